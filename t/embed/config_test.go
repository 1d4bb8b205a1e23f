// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// follower is a module that notes the configurations it is told, and refuses
// one that has its name as a key.
func follower(t *testing.T, in *embed.Instance, rank int, name string, told *[]string) {
	t.Helper()
	_, err := in.LoadModule(rank, name, nil, func(h *flux.Handle, _ []string) (func(), error) {
		m, err := h.HandleRequest(name+".config-reload", 0, func(r *flux.Request) {
			p, _ := r.Payload()
			*told = append(*told, fmt.Sprintf("%s %d %s", name, rank, p))
			if strings.Contains(p, name) {
				_ = r.RespondError(&flux.Error{Num: syscall.EINVAL, Text: "no"})
				return
			}
			_ = r.Respond("")
		})
		if err != nil {
			return nil, err
		}
		return m.Destroy, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A refusal on the leader has the modules that were told before told the old
// one again; one on another rank is that rank's.
func TestConfigReload(t *testing.T) {
	in := embed.New(embed.Options{Size: 3, Topology: "custom:0,1", Config: `{"a":1}`})
	var told []string
	follower(t, in, 0, "x", &told)
	follower(t, in, 0, "y", &told)
	follower(t, in, 1, "z", &told)
	follower(t, in, 2, "x", &told)
	expect := func(want ...string) {
		t.Helper()
		in.Settle()
		if strings.Join(told, "\n") != strings.Join(want, "\n") {
			t.Errorf("told %q, want %q", told, want)
		}
		told = nil
	}
	on := func(want string) {
		t.Helper()
		for r := range 3 {
			if got := in.ConfigOn(r); got != want {
				t.Errorf("rank %d has %s, want %s", r, got, want)
			}
		}
	}
	if err := in.ConfigReload(`{"y":1}`); err == nil || err.Error() != "error updating y: no" {
		t.Error(err)
	}
	expect(`x 0 {"y":1}`, `y 0 {"y":1}`, `x 0 {"a":1}`)
	on(`{"a":1}`)
	if err := in.ConfigReload(`{ "a": 1 }`); err != nil {
		t.Error(err)
	}
	expect()
	if err := in.ConfigReload(`{"b":1}`); err != nil {
		t.Error(err)
	}
	if in.ConfigOn(1) != `{"a":1}` {
		t.Error("another broker has it at once")
	}
	expect(`x 0 {"b":1}`, `y 0 {"b":1}`, `z 1 {"b":1}`, `x 2 {"b":1}`)
	on(`{"b":1}`)
	if err := in.ConfigReload(`{"z":1}`); err != nil {
		t.Error(err)
	}
	expect(`x 0 {"z":1}`, `y 0 {"z":1}`, `z 1 {"z":1}`)
	if in.ConfigOn(0) != `{"z":1}` || in.ConfigOn(1) != `{"b":1}` || in.ConfigOn(2) != `{"b":1}` {
		t.Errorf("%s, %s, %s", in.ConfigOn(0), in.ConfigOn(1), in.ConfigOn(2))
	}
	in.LoseRank(1)
	in.ReturnRank(1)
	on(`{"z":1}`)
	closed(t, in)
}
