// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"testing"
	"time"

	"flux-burrow/hooks/config"
)

// cleaner is a job manager where the end of the epilog's hold makes the job
// inactive at once, as in a real one.
type cleaner struct {
	*fakeHost
	h *Hooks
}

func (c *cleaner) FreeEpilog(id uint64, d string, status int) error {
	err := c.fakeHost.FreeEpilog(id, d, status)
	c.h.Inactive(idArgs(int(id)))
	return err
}

// A window has four wishes, and no fifth by its own end.
func TestFourWishes(t *testing.T) {
	c := &cleaner{fakeHost: newFakeHost(t)}
	h := New(c, config.Default())
	c.h = h
	c.pass(2 * time.Minute)
	c.well()
	before := h.stats.Wishes
	rabbit(h, 1, "0-1")
	c.well()
	environment(h, 1)
	c.well()
	finished(h, 1)
	c.well()
	h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 0)))
	c.well()
	if n := h.stats.Wishes - before; n != 4 || len(h.windows) != 0 || c.opened() != "" {
		t.Errorf("%d wishes, windows %v, open %q", n, h.windows, c.opened())
	}
}
