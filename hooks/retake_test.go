// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"testing"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
)

// Another plugin finishes a hold of its own twice, where ours is the last: it
// is taken anew, and let go once when the services are down. The job manager
// tells of retake's own events as of any other.
func TestRetake(t *testing.T) {
	f, h := newHooks(t, nil)
	w := toStopping(f, h, 1, "0")
	h.JobEvent(eventArgs(1, "prolog-finish", ended("other", 0)))
	h.JobEvent(eventArgs(1, "prolog-finish", ended(prologName, 0)))
	h.JobEvent(eventArgs(1, "prolog-start", described(prologName)))
	if f.opened() != "1 burrow-prolog" {
		t.Errorf("open: %s", f.opened())
	}
	w.answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// The end of a hold that an heir of an earlier load posted is not posted again.
func TestEndedByHeir(t *testing.T) {
	f, h := newHooks(t, nil)
	w := toStopping(f, h, 1, "0")
	h.JobEvent(eventArgs(1, "prolog-finish", ended(prologName, 0)))
	f.open["1 "+prologName] = 0
	w.answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// A hold that was taken anew is one hold after a restart as well: two starts
// with one end between them that is another's.
func TestRetakenAfterRestart(t *testing.T) {
	f := newFakeHost(t)
	f.kvs["log 7"] = `{"timestamp":1,"name":"prolog-start","context":{"description":"burrow-prolog"}}
{"timestamp":2,"name":"prolog-start","context":{"description":"dws-setup"}}
{"timestamp":3,"name":"prolog-finish","context":{"description":"other"}}
{"timestamp":4,"name":"prolog-start","context":{"description":"burrow-prolog"}}
{"timestamp":5,"name":"dws_environment"}
{"timestamp":6,"name":"prolog-finish","context":{"description":"dws-setup"}}
{"timestamp":7,"name":"prolog-finish","context":{"description":"burrow-prolog"}}
`
	h := New(f, config.Default())
	h.New(runArgs(7, true, "1-2"))
	f.pass(commitWait)
	if w := h.windows[7]; w == nil || w.state != Running || w.prolog {
		t.Errorf("resumed as %+v", w)
	}
}
