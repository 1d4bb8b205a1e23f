// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"strings"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// The dws plugin removed in each phase and loaded again, as dws-jobtap.c has
// it: a dependency is not added twice; a hold of the prolog is finished by what
// the service says later, but not by an exception any more; the end of a job
// that was past its run state is not seen.
func TestDWSReload(t *testing.T) {
	for _, c := range []struct {
		at     string // the last event before the removal
		once   bool   // the service does not try again
		cancel bool
		want   string // the eventlog from there on
		stuck  bool
	}{
		{"dependency-add", false, false, "jobspec-update dependency-remove depend priority alloc prolog-start dws_environment " +
			"prolog-finish start finish epilog-start release epilog-finish free clean", false},
		{"prolog-start", false, false, "dws_environment prolog-finish start finish release free clean", false},
		{"prolog-start", true, false, "", true},
		{"prolog-start", false, true, "exception epilog-start epilog-finish", true},
		{"start", false, false, "finish release free clean", false},
		{"epilog-start", false, false, "release epilog-finish free clean", false},
		{"epilog-start", true, false, "release", true},
	} {
		in := embed.New(embed.Options{Size: 2})
		d, err := in.DWS(embed.DWSOptions{SetupDelay: time.Second, PostRunDelay: time.Second, EpilogTimeout: time.Minute, Once: c.once})
		if err != nil {
			t.Fatal(err)
		}
		id := submit(t, in, embed.Jobspec{Nodes: 2, DW: dw, Run: time.Second})
		if !in.Run(func() bool { n := strings.Fields(names(in, id)); return len(n) > 0 && n[len(n)-1] == c.at }, time.Minute) {
			t.Fatalf("%s was not reached: %s", c.at, names(in, id))
		}
		before := names(in, id)
		if err := d.Remove(); err != nil || d.Loaded() {
			t.Fatal(err)
		}
		if c.once {
			in.Advance(5 * time.Second)
		}
		if err := d.Load(); err != nil || !d.Loaded() {
			t.Fatal(err)
		}
		if c.cancel {
			_ = in.Cancel(id)
		}
		in.Advance(2 * time.Minute)
		got := strings.TrimSpace(strings.TrimPrefix(names(in, id), before))
		if got != c.want || in.Idle() == c.stuck {
			t.Errorf("%+v: %s; idle: %t", c, got, in.Idle())
		}
		closed(t, in)
	}
}
