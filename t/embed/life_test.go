// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/t/embed"
)

// Ends of jobs as they were seen on flux-core 0.88, with statuses.
func TestEnds(t *testing.T) {
	in := embed.New(embed.Options{})
	entries := func(id embed.JobID) string {
		var s []string
		for _, e := range in.Eventlog(id) {
			n := e.Name
			if st := gjson.Get(e.Context, "status"); st.Exists() {
				n += st.Raw
			}
			if k := gjson.Get(e.Context, "type"); k.Exists() {
				n += ":" + k.Str
			}
			s = append(s, n)
		}
		return strings.Join(s, " ")
	}
	begin := "submit validate depend priority alloc start "
	id := submit(t, in, embed.Jobspec{Run: embed.Forever, TimeLimit: time.Second})
	finished(t, in, id)
	if got := entries(id); got != begin+"exception:timeout finish36352 release free clean" {
		t.Error(got)
	}
	id = submit(t, in, embed.Jobspec{Run: embed.Forever})
	running(t, in, id)
	_ = in.Raise(id, "foo", 3, "hello world")
	_ = in.Cancel(id)
	finished(t, in, id)
	if got := entries(id); got != begin+"exception:foo exception:cancel finish36608 release free clean" {
		t.Error(got)
	}
	_, err := in.RPC(0, 0, "job-manager.raise", fmt.Sprintf(`{"id":%d,"severity":0,"type":"cancel"}`, id))
	wantError(t, err, syscall.ENOENT, "job is inactive")
	_, err = in.RPC(0, 0, "job-manager.raise", `{"id":77,"severity":0,"type":"cancel"}`)
	wantError(t, err, syscall.ENOENT, "unknown job id")
	_, err = in.RPC(0, 0, "job-info.lookup", `{"id":77,"keys":["R"],"flags":0}`)
	wantError(t, err, syscall.ENOENT, "invalid job id")
	_, err = in.RPC(0, 0, "job-info.lookup", fmt.Sprintf(`{"id":%d,"keys":["nope"],"flags":0}`, id))
	wantError(t, err, syscall.ENOENT, "nope: key not found")
	_, err = in.RPC(0, 0, "job-manager.sched-hello", "{}")
	wantError(t, err, syscall.EPROTO, "Protocol error")

	// The extended expiration is in the eventlog, not in the KVS's R (FACTS 26).
	id = submit(t, in, embed.Jobspec{Run: embed.Forever, TimeLimit: time.Minute})
	running(t, in, id)
	if err := in.UpdateDuration(id, 120); err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Second)
	var expirations []float64
	for _, flags := range []int{1, 3} {
		s, err := in.RPC(0, 0, "job-info.lookup", fmt.Sprintf(`{"id":%d,"keys":["R"],"flags":%d}`, id, flags))
		if err != nil {
			t.Fatal(err)
		}
		expirations = append(expirations, gjson.Get(s, "R.execution.expiration").Float())
	}
	if d := expirations[1] - expirations[0]; d < 59.9 || d > 60.1 {
		t.Errorf("expirations %v", expirations)
	}
	in.Advance(100 * time.Second)
	if in.State(id) != embed.StateRun {
		t.Error("ended before its new time")
	}
	finished(t, in, id)
	closed(t, in)
}

// Resources: drains and their refusals, with the texts of 0.88.
func TestDrain(t *testing.T) {
	in := embed.New(embed.Options{Size: 3})
	drain := func(topic, payload string) error {
		_, err := in.RPC(1, 0, "resource."+topic, payload)
		return err
	}
	if err := drain("drain", `{"targets":"1","reason":"x"}`); err != nil {
		t.Fatal(err)
	}
	wantError(t, drain("drain", `{"targets":"1","reason":"x"}`), syscall.EEXIST, "rank 1 already drained")
	if err := drain("drain", `{"targets":"1-2","reason":"y","mode":"update"}`); err != nil {
		t.Fatal(err)
	}
	if d := in.Drained(); d[1] != "x" || d[2] != "y" {
		t.Errorf("%v", d)
	}
	wantError(t, drain("undrain", `{"targets":"0"}`), syscall.EEXIST, "rank 0 not drained")
	wantError(t, drain("drain", `{"targets":"99"}`), syscall.EINVAL, "idset is out of range")
	wantError(t, drain("drain", `{"targets":"foo"}`), syscall.EINVAL, "invalid targets: invalid hosts: foo")
	_, err := in.RPC(0, 1, "resource.drain", `{"targets":"1"}`)
	wantError(t, err, syscall.ENOSYS, "Unknown service method 'resource.drain'")
	// A job gets no drained node.
	id := submit(t, in, embed.Jobspec{Nodes: 2})
	in.Advance(time.Second)
	if in.State(id) != embed.StateSched {
		t.Errorf("in %v", in.State(id))
	}
	if err := drain("undrain", `{"targets":"1-2"}`); err != nil {
		t.Fatal(err)
	}
	finished(t, in, id)
	got, err := in.RPC(0, 0, "overlay.topology", `{"rank":0}`)
	if err != nil || got != `{"rank":0,"size":3,"children":[{"rank":1,"size":1,"children":[]},{"rank":2,"size":1,"children":[]}]}` {
		t.Errorf("%s, %v", got, err)
	}
	_, err = in.RPC(0, 1, "overlay.topology", `{"rank":0}`)
	wantError(t, err, syscall.ENOENT, "requested rank is not this broker or its direct child")
	closed(t, in)
}
