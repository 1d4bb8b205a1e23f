// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"testing"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
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

// After a change of the services an answer may be by the old list: it lets no
// job start before all brokers should have the new one.
func TestAnswerByOldServices(t *testing.T) {
	idle := config.Default()
	idle.Services[0].Up |= phase.SetOf(phase.Idle)
	f := newFakeHost(t)
	h := New(f, idle)
	f.pass(idle.ServiceTimeout)
	f.well()
	h.Reconfigure(config.Default())
	f.well()
	h.Run(runArgs(1, false, "0-1"))
	f.expect("1 run 0-1")[0].answer(wire.SetResponse{})
	if f.opened() != "1 burrow-prolog" {
		t.Errorf("open: %q", f.opened())
	}
	f.pass(reloadWait)
	f.well()
	if f.opened() != "" {
		t.Errorf("open: %q", f.opened())
	}
	h.Reconfigure(config.Default())
	h.Run(runArgs(2, false, "0-1"))
	f.well()
	if f.opened() != "" {
		t.Errorf("nothing has changed: open: %q", f.opened())
	}
}

// Fake resources have ranks without a broker: nothing is asked of those.
func TestRanksWithoutBroker(t *testing.T) {
	f := newFakeHost(t)
	f.size = 4
	h := New(f, config.Default())
	f.pass(config.Default().ServiceTimeout)
	f.well()
	h.Run(runArgs(1, true, "4-9"))
	h.New(runArgs(2, true, "7"))
	h.Run(runArgs(3, true, "2-9"))
	if h.windows[1] != nil || h.windows[2] != nil {
		t.Error("a job on no broker has a window")
	}
	if w := h.windows[3]; w == nil || w.ranks.String() != "2-3" {
		t.Errorf("%+v", w)
	}
}
