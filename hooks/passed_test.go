// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"testing"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
)

// Jobs that were let through get a window when the configuration asks for one:
// with a service that is up in idle, and when the hooks are enabled.
func TestPassed(t *testing.T) {
	idle := config.Default()
	idle.Services[0].Up |= phase.SetOf(phase.Idle)
	off := config.Default()
	off.Enable = false
	for name, c := range map[string]struct {
		before, after *config.Config
		rabbit, load  bool
		want          State
	}{
		"up in idle":                      {config.Default(), idle, false, false, OtherRunning},
		"up in idle, there at the load":   {config.Default(), idle, false, true, OtherRunning},
		"not up in idle":                  {config.Default(), config.Default(), false, false, Over},
		"enabled":                         {off, config.Default(), true, false, Running},
		"enabled, there at the load":      {off, config.Default(), true, true, Running},
		"enabled, a job without a rabbit": {off, config.Default(), false, false, Over},
		"not enabled":                     {config.Default(), off, false, false, Over},
	} {
		f := newFakeHost(t)
		f.kvs["log 1"] = `{"timestamp":1,"name":"start"}`
		h := New(f, c.before)
		if c.load {
			h.New(runArgs(1, c.rabbit, "0-1"))
		}
		f.pass(c.before.ServiceTimeout)
		f.well()
		if !c.load {
			h.Run(runArgs(1, c.rabbit, "0-1"))
		}
		if f.opened() != "" {
			t.Fatalf("%s: held", name)
		}
		h.Reconfigure(c.after)
		f.pass(commitWait)
		got := Over
		if w := h.windows[1]; w != nil {
			got = w.state
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		f.well()
		h.Inactive(idArgs(1))
		if len(h.passed) != 0 || len(h.windows) != 0 {
			t.Errorf("%s: it is not forgotten", name)
		}
	}
}
