// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"testing"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// The answer to an earlier wish says nothing of the last one.
func TestLateAnswer(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0")
	mount := f.expect("1 mount 0")[0]
	environment(h, 1)
	run := f.expect("1 run 0")[0]
	mount.answer(wire.SetResponse{})
	if f.opened() != "1 burrow-prolog" {
		t.Fatalf("let go by the answer for mount: open: %q", f.opened())
	}
	run.answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// A prolog ends with status 0 where the job may start, with 1 where not.
func TestPrologStatus(t *testing.T) {
	f, h := newHooks(t, nil)
	toStopping(f, h, 1, "0").answer(wire.SetResponse{})
	if f.opened() != "" || f.status != 0 {
		t.Errorf("open: %q, status %d", f.opened(), f.status)
	}
	toStopping(f, h, 2, "1")
	h.JobEvent(eventArgs(2, "exception", `{"type":"cancel","severity":0}`))
	h.Cleanup(idArgs(2))
	if f.opened() != "2 burrow-epilog" || f.status != 1 {
		t.Errorf("open: %q, status %d", f.opened(), f.status)
	}
}

// A job that can't be given its exception does not wait for ever.
func TestRaiseFails(t *testing.T) {
	f, h := newHooks(t, nil)
	w := toStopping(f, h, 1, "0")
	f.mute = true
	w.answer(failed(idset.New(0), reason))
	if f.opened() != "" || f.status != 1 {
		t.Errorf("open: %q, status %d", f.opened(), f.status)
	}
}

// Dws may start its epilog after burrow has heard of the job's end, in the
// same event.
func TestDWSComesLater(t *testing.T) {
	f, h := newHooks(t, nil)
	toStopping(f, h, 1, "0").answer(wire.SetResponse{})
	h.JobEvent(eventArgs(1, "finish", `{"status":0}`))
	h.Cleanup(idArgs(1))
	f.expect("1 unmount 0")
	h.JobEvent(eventArgs(1, "epilog-start", described(dwsEpilog)))
	f.pass(0)
	f.expect("")
	h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 0)))
	f.expect("1 idle 0")[0].answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}
