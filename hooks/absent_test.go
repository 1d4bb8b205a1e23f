// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"strings"
	"testing"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// An agent that is reloaded while a wish is on its way is no failure of its
// node's, whatever the phase.
func TestAgentReloaded(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0-1")
	f.take()[0].answer(failed(idset.New(1), wire.NotLoaded))
	var needs []wire.Need
	h.Wanted(1, func(r wire.WantedResponse, _ bool) { needs = r.Needs })
	if len(needs) != 1 || needs[0].Phase.String() != "mount" {
		t.Errorf("wanted: %+v", needs)
	}
	f.pass(verifyDelay)
	f.well()
	environment(h, 1)
	f.take()[0].answer(failed(idset.New(1), wire.NotLoaded))
	if f.opened() != "1 burrow-prolog" {
		t.Errorf("open: %s", f.opened())
	}
	h.Wanted(1, func(wire.WantedResponse, bool) {})
	f.pass(verifyDelay)
	f.well()
	f.pass(waitFirst)
	f.well()
	if f.opened() != "" || len(f.drains)+len(f.raised) > 0 {
		t.Errorf("open: %s; drained %q, raised %q", f.opened(), f.drains, f.raised)
	}
	f.pass(2 * reloadGrace)
	if len(f.drains)+len(f.raised) > 0 {
		t.Errorf("later: drained %q, raised %q", f.drains, f.raised)
	}
}

// One that does not come back has failed, once its time is over; and from then
// on at once.
func TestAgentGone(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0-1")
	f.take()[0].answer(failed(idset.New(1), wire.NotLoaded))
	if len(f.drains) > 0 {
		t.Errorf("drained at once: %q", f.drains)
	}
	f.pass(reloadGrace)
	f.expect("1 mount 1")[0].answer(failed(idset.New(1), wire.NotLoaded))
	if len(f.drains) != 1 || !strings.Contains(f.drains[0], wire.NotLoaded) || len(f.raised) != 1 {
		t.Errorf("drained %q, raised %q", f.drains, f.raised)
	}
	rabbit(h, 2, "1")
	f.take()[0].answer(failed(idset.New(1), wire.NotLoaded))
	if len(f.drains) != 2 || len(f.raised) != 2 {
		t.Errorf("the next: drained %q, raised %q", f.drains, f.raised)
	}
}

// With enable = false an agent is told what windows need that go on, and else
// nothing; that it is there is noted all the same.
func TestWantedNotEnabled(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0")
	f.well()
	off := config.Default()
	off.Enable = false
	h.Reconfigure(off)
	f.well()
	h.gone.AddSet(idset.New(0, 1))
	for rank, want := range []bool{true, false} {
		h.Wanted(uint32(rank), func(r wire.WantedResponse, ok bool) {
			if ok != want || len(r.Needs) > 0 != want {
				t.Errorf("rank %d: %t %+v", rank, ok, r)
			}
		})
	}
	if !h.gone.Empty() {
		t.Errorf("gone: %s", h.gone)
	}
}
