// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

func newConfig() *config.Config { return config.Default() }

func failed(ranks *idset.Set, reason string) wire.SetResponse {
	return wire.SetResponse{Failed: []wire.RankText{{Ranks: ranks, Reason: reason}}}
}

const reason = "stop a.service: svc: exit status 1: no"

func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		on       config.OnFailure
		tolerate int
		broken   int
		drained  bool
		raised   bool
	}{
		{config.Drain, 0, 1, true, true},
		{config.Drain, 1, 1, true, false},
		{config.Drain, 1, 2, true, true},
		{config.Raise, 0, 1, false, true},
		{config.Raise, 2, 2, false, false},
		{config.Ignore, 0, 3, false, false},
	} {
		f, h := newHooks(t, func(cfg *config.Config) { cfg.OnFailure, cfg.Tolerate = c.on, c.tolerate })
		w := toStopping(f, h, 1, "0-3")
		w.answer(failed(idset.NewRange(1, c.broken), reason))
		if got := len(f.drains) > 0; got != c.drained || got && !strings.HasSuffix(f.drains[0], "burrow: "+reason) {
			t.Errorf("%+v: drained %q", c, f.drains)
		}
		if got := len(f.raised) > 0; got != c.raised || got && !strings.Contains(f.raised[0], "burrow-services: services not as run wants them on ") {
			t.Errorf("%+v: raised %q", c, f.raised)
		}
		if held := f.opened() != ""; held != c.raised {
			t.Errorf("%+v: prolog held: %t", c, held)
		}
		if c.raised {
			h.JobEvent(eventArgs(1, "exception", `{"severity":0}`))
			h.Cleanup(idArgs(1))
			h.JobEvent(eventArgs(1, "epilog-start", described(dwsEpilog)))
		} else {
			finished(h, 1)
		}
		f.well()
		h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 0)))
		f.well()
		if f.opened() != "" || h.windows[1] != nil {
			t.Errorf("%+v: open at the end: %s", c, f.opened())
		}
	}
}

// What an agent that is gone left up is remembered over a reload.
func TestManagedIsRemembered(t *testing.T) {
	f, h := newHooks(t, nil)
	f.pass(time.Second)
	h.Close()
	h = New(f, newConfig())
	f.pass(0)
	gone := failed(idset.New(1), wire.NotLoaded)
	for _, w := range f.take() {
		w.answer(gone)
	}
	h.unclean.Add(1)
	h.Run(runArgs(1, false, "1"))
	f.expect("1 run 1")[0].answer(gone)
	if f.opened() != "1 burrow-prolog" {
		t.Errorf("open: %q", f.opened())
	}
	// Its agent may be on its way, for a time.
	if len(f.drains)+len(f.raised) > 0 {
		t.Errorf("judged at once: %q %q", f.drains, f.raised)
	}
	for end := f.now.Add(2 * time.Minute); f.now.Before(end); f.pass(time.Second) {
		for _, w := range f.take() {
			w.answer(gone)
		}
	}
	if len(f.raised) != 1 || len(f.drains) == 0 {
		t.Errorf("not judged: %q %q", f.drains, f.raised)
	}
}

// An agent that was heard of in this load, and is gone, has failed at once.
func TestPresentIsNotExcused(t *testing.T) {
	f, h := newHooks(t, nil)
	h.unclean.Add(1)
	h.Run(runArgs(1, true, "1"))
	f.expect("1 mount 1")[0].answer(failed(idset.New(1), wire.Lost("No route to host")))
	if len(f.raised) != 1 || len(f.drains) != 1 {
		t.Errorf("not judged at once: %q %q", f.drains, f.raised)
	}
}

// Where there never was an agent a job without a rabbit does not depend on
// one; a rabbit job does, and is told at once.
func TestNeverManaged(t *testing.T) {
	f := newFakeHost(t)
	h := New(f, newConfig())
	f.pass(time.Second)
	all := func() {
		for _, w := range f.take() {
			w.answer(failed(w.Ranks, wire.NotLoaded))
		}
	}
	all()
	h.unclean.Add(1)
	h.Run(runArgs(1, false, "1"))
	all()
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
	rabbit(h, 2, "1")
	all()
	if len(f.raised) != 1 {
		t.Errorf("raised %q", f.raised)
	}
}

// Ranks whose brokers and agents are not back yet after a restart are waited
// for by the jobs that were there.
func TestAbsent(t *testing.T) {
	f := newFakeHost(t)
	f.open["1 "+prologName] = 1
	f.kvs["log 1"] = `{"timestamp":1,"name":"prolog-start","context":{"description":"burrow-prolog"}}
{"timestamp":2,"name":"dws_environment"}
`
	h := New(f, newConfig())
	h.New(runArgs(1, true, "0-1"))
	f.pass(commitWait)
	for _, w := range f.take() {
		w.answer(failed(w.Ranks, wire.NotLoaded))
	}
	if len(f.drains)+len(f.raised) > 0 {
		t.Fatalf("drained %q, raised %q", f.drains, f.raised)
	}
	for _, rank := range []uint32{0, 1} {
		h.Wanted(rank, func(wire.WantedResponse, bool) {})
	}
	f.pass(verifyDelay)
	f.well()
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// A rabbit job that dws does nothing for waits, and somebody is told why.
func TestNoDWSIsTold(t *testing.T) {
	f, h := newHooks(t, nil)
	f.log = nil
	h.Run(runArgs(1, true, "0"))
	rabbit(h, 2, "1")
	rabbit(h, 3, "2")
	environment(h, 3)
	h.Run(runArgs(4, false, "3"))
	f.pass(time.Minute)
	var told []string
	for _, line := range f.log {
		if strings.Contains(line, dwsSetup) {
			told = append(told, line)
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], idString(1)) || f.open["1 "+prologName] != 1 {
		t.Errorf("told %q, open %s", told, f.opened())
	}
}

// A job that gets an exception after the start request is out may still come
// up: its services stay down until the exec service has said what became of it.
func TestExceptionOnTheWayToStart(t *testing.T) {
	for _, answer := range []string{"release", "finish", "nothing"} {
		f, h := newHooks(t, nil)
		f.running = map[uint64]bool{1: true}
		toStopping(f, h, 1, "0").answer(wire.SetResponse{})
		h.JobEvent(eventArgs(1, "prolog-finish", ended(prologName, 0)))
		h.JobEvent(eventArgs(1, "exception", `{"severity":0}`))
		h.Cleanup(idArgs(1))
		f.expect("")
		switch answer {
		case "release":
			h.JobEvent(eventArgs(1, "release", `{"final":true}`))
		case "finish":
			h.JobEvent(eventArgs(1, "start", ""))
			f.pass(time.Hour)
			f.expect("")
			h.JobEvent(eventArgs(1, "finish", `{"status":1}`))
		case "nothing":
			f.running = nil
			f.pass(startWait + verifyDelay)
		}
		if got := f.wishing(); !strings.HasPrefix(got, "1 unmount 0") {
			t.Errorf("%s: %q", answer, got)
		}
	}
}

// Close lets go of each hold, once.
func TestClose(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0")
	toStopping(f, h, 2, "1").answer(wire.SetResponse{})
	finished(h, 2)
	if f.opened() != "1 burrow-prolog, 2 burrow-epilog" {
		t.Fatalf("open: %s", f.opened())
	}
	h.Close()
	h.Close()
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
	f.well()
	f.pass(time.Hour)
}
