// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"errors"
	"testing"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
)

// killed brings jobs to CLEANUP by an exception while their tasks run.
func killed(f *fakeHost, h *Hooks, ids ...int) {
	for _, id := range ids {
		toStopping(f, h, id, "0").answer(wire.SetResponse{})
		h.JobEvent(eventArgs(id, "prolog-finish", ended(prologName, 0)))
		h.JobEvent(eventArgs(id, "start", ""))
		h.JobEvent(eventArgs(id, "exception", `{"severity":0}`))
		h.Cleanup(idArgs(id))
		h.JobEvent(eventArgs(id, "epilog-start", described(dwsEpilog)))
	}
}

// One question to the exec service is for all jobs that wait for the end of
// their tasks, and none is asked before service-timeout.
func TestEndingAsksOnce(t *testing.T) {
	f, h := newHooks(t, nil)
	asked := 0
	f.asked = func() { asked++ }
	f.running = map[uint64]bool{1: true, 2: true}
	killed(f, h, 1, 2, 3)
	f.take()
	f.pass(h.cfg.ServiceTimeout - time.Second)
	if asked > 0 {
		t.Errorf("asked %d times", asked)
	}
	f.pass(time.Second + verifyDelay)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	// The third is not there, and the others are.
	f.expect("3 unmount 0")
	for _, id := range []uint64{1, 2} {
		if s := h.windows[id].state; s != Ending {
			t.Errorf("job %d: %s", id, s)
		}
	}
	h.JobEvent(eventArgs(1, "finish", `{"status":9}`))
	f.expect("1 unmount 0")
}

// An exec service that does not say what it has is asked again, not for ever.
func TestEndingUnsaid(t *testing.T) {
	f, h := newHooks(t, nil)
	f.unsaid = errors.New("Connection timed out")
	killed(f, h, 1)
	f.take()
	f.pass(config.Default().ServiceTimeout * (maxUnsaid - 1))
	f.expect("")
	f.pass(config.Default().ServiceTimeout * 2)
	f.expect("1 unmount 0")
}
