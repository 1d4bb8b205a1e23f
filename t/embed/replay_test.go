// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"sort"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

var dw = []string{"#DW jobdw type=xfs capacity=10GiB name=project1"}

// The scenario of recorded/jobtap-plain.jsonl: see recorded/README.md.
func TestReplayPlain(t *testing.T) {
	in := embed.New(embed.Options{Size: 2, Hosts: []string{"vm", "vm"}})
	r := &recorder{}
	if _, err := in.LoadPlugin("dump.so", "", r.init); err != nil {
		t.Fatal(err)
	}
	finished(t, in, submit(t, in, embed.Jobspec{Nodes: 2}))
	finished(t, in, submit(t, in, embed.Jobspec{Nodes: 1, DW: dw}))
	id := submit(t, in, embed.Jobspec{Nodes: 1, Run: embed.Forever})
	running(t, in, id)
	if err := in.Cancel(id); err != nil {
		t.Fatal(err)
	}
	finished(t, in, id)
	id = submit(t, in, embed.Jobspec{Nodes: 1, Exclusive: true, Run: embed.Forever, TimeLimit: 600 * time.Second})
	running(t, in, id)
	if err := in.UpdateDuration(id, 1200); err != nil {
		t.Fatal(err)
	}
	if err := in.RemovePlugin("dump.so"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.LoadPlugin("dump.so", "", r.init); err != nil {
		t.Fatal(err)
	}
	if err := in.Cancel(id); err != nil {
		t.Fatal(err)
	}
	finished(t, in, id)
	compare(t, recorded(t, "jobtap-plain.jsonl"), r.lines)
	closed(t, in)
}

// The scenario of recorded/jobtap-rabbit.jsonl. The recorder was loaded first,
// then dws.
func TestReplayRabbit(t *testing.T) {
	in := embed.New(embed.Options{Size: 2, Hosts: []string{"vm", "vm"}})
	r := &recorder{}
	if _, err := in.LoadPlugin("dump.so", "", r.init); err != nil {
		t.Fatal(err)
	}
	d, err := in.DWS(embed.DWSOptions{SetupDelay: 200 * time.Millisecond, PostRunDelay: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	finished(t, in, submit(t, in, embed.Jobspec{Nodes: 2, Exclusive: true, DW: dw}))
	finished(t, in, submit(t, in, embed.Jobspec{Nodes: 1, Exclusive: true}))
	id := submit(t, in, embed.Jobspec{Nodes: 2, Exclusive: true, DW: dw})
	runUntil(t, in, "a prolog", func() bool { return in.State(id) == embed.StateRun })
	in.Advance(10 * time.Millisecond)
	if err := in.Cancel(id); err != nil {
		t.Fatal(err)
	}
	finished(t, in, id)
	compare(t, recorded(t, "jobtap-rabbit.jsonl"), r.lines)
	if s := d.String(); s != "" {
		t.Error("dws still holds", s)
	}
	closed(t, in)
}

// The scenario of recorded/jobtap-restart.jsonl: a plugin that holds every
// prolog, the broker killed with two jobs in their prologs. Which job comes
// first after the restart is open, so each job is compared on its own.
func TestReplayRestart(t *testing.T) {
	r := &recorder{hold: true}
	in := embed.New(embed.Options{Size: 1, Plugins: []embed.PluginSpec{{Name: "/home/user/dumphold.so", Init: r.init}}})
	a := submit(t, in, embed.Jobspec{Nodes: 1})
	runUntil(t, in, "the first prolog", func() bool { return in.State(a) == embed.StateRun })
	in.Advance(100 * time.Millisecond)
	b := submit(t, in, embed.Jobspec{Nodes: 1, DW: dw})
	runUntil(t, in, "the second prolog", func() bool { return in.State(b) == embed.StateRun })
	in.Advance(time.Second)
	in.RestartBroker(0)
	r.lines = append(r.lines[:len(r.lines)-6], append([]callback{{"mark", "restart"}}, r.lines[len(r.lines)-6:]...)...)
	in.Advance(time.Second)
	for _, id := range []embed.JobID{a, b} {
		if j, _ := in.Job(id); j.State != embed.StateRun || j.Holds != 1 {
			t.Errorf("job in %v with %d holds after the restart", j.State, j.Holds)
		}
	}
	if err := in.Cancel(a); err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Second)
	want, got := recorded(t, "jobtap-restart.jsonl"), r.lines
	order := func(lines []callback) {
		for i, l := range lines {
			if l.topic == "mark" {
				tail := lines[i+3 : i+7]
				sort.SliceStable(tail, func(x, y int) bool {
					return id(tail[x]) < id(tail[y])
				})
			}
		}
	}
	order(want)
	order(got)
	compare(t, want, got)
	in.Close()
}
