// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// toStopping brings a rabbit job to the wish that its prolog waits for.
func toStopping(f *fakeHost, h *Hooks, id int, ranks string) *wish {
	f.t.Helper()
	rabbit(h, id, ranks)
	f.well()
	environment(h, id)
	return f.take()[0]
}

func waiting(ranks ...int) wire.SetResponse { return wire.SetResponse{Waiting: idset.New(ranks...)} }

// A job that waits for another's need asks again when that is over, on all of
// its ranks: where services were down the other may have had them up since.
func TestWaitsForAnotherJob(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0-1")
	f.well()
	w := toStopping(f, h, 2, "0-3")
	w.answer(waiting(0, 1))
	f.expect("")
	environment(h, 1)
	first := f.expect("1 run 0-1")[0]
	first.answer(wire.SetResponse{})
	again := f.expect("2 run 0-3")[0]
	if f.opened() != "2 burrow-prolog" {
		t.Errorf("open: %s", f.opened())
	}
	again.answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// A wait for what nobody tells of is asked again now and then, not at once and
// for ever.
func TestWaitIsNotBusy(t *testing.T) {
	f, h := newHooks(t, nil)
	toStopping(f, h, 1, "0").answer(waiting(0))
	toStopping(f, h, 2, "1").answer(waiting(1))
	asked := 0
	for end := f.now.Add(time.Minute); f.now.Before(end); f.pass(100 * time.Millisecond) {
		for _, w := range f.take() {
			asked++
			w.answer(waiting(w.Ranks.First()))
			if len(f.wishes) > 0 {
				t.Fatal("asked again at once")
			}
		}
	}
	if asked < 6 || asked > 30 {
		t.Errorf("asked %d times in a minute", asked)
	}
}

// An unmount is given up while another job waits for its nodes: that job's is
// the next window there.
func TestGivenUpWhileAnotherWaits(t *testing.T) {
	f, h := newHooks(t, nil)
	toStopping(f, h, 1, "0-1").answer(wire.SetResponse{})
	finished(h, 1)
	f.well()
	toStopping(f, h, 2, "1-2").answer(waiting(1))
	h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 1)))
	f.expect("1 idle 1; 2 run 1-2")
	if k := h.kept[1]; k == nil || k.ranks.String() != "0" {
		t.Errorf("kept %+v", k)
	}
}

// A given-up unmount is kept until the next window, or a release.
func TestKept(t *testing.T) {
	for _, next := range []string{"rabbit", "other", "release"} {
		f, h := newHooks(t, nil)
		toStopping(f, h, 1, "0-1").answer(wire.SetResponse{})
		finished(h, 1)
		f.well()
		h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 1)))
		f.expect("")
		if f.opened() != "" || !strings.Contains(strings.Join(f.log, "\n"), "its unmount was given up (dws-epilog, status 1)") {
			t.Errorf("open: %s; %q", f.opened(), f.log)
		}
		switch next {
		case "rabbit":
			rabbit(h, 2, "1-2")
			f.expect("2 mount 1-2; 1 idle 1")
		case "other":
			h.Run(runArgs(2, false, "1-2"))
			f.expect("1 idle 1; 2 run 1-2")
		case "release":
			h.Release(idset.New(1, 2), func(r wire.ReleaseResponse) {
				if len(r.Released) != 1 || r.Released[0].Ranks.String() != "1" {
					t.Errorf("released %+v", r)
				}
			})
			f.expect("1 idle 1")
		}
		if h.kept[1].ranks.String() != "0" {
			t.Errorf("kept on %s", h.kept[1].ranks)
		}
	}
}

// What was kept up ends with the next job there, also where that began while
// the plugin was not loaded.
func TestKeptUnderJob(t *testing.T) {
	f := newFakeHost(t)
	f.kvs[keptKey] = `[{"id":9,"ranks":"1-2","gen":5}]`
	f.kvs["log 1"] = `{"timestamp":1,"name":"start"}`
	h := New(f, newConfig())
	h.New(runArgs(1, false, "0-1"))
	f.pass(commitWait)
	if k := h.kept[9]; k == nil || k.ranks.String() != "2" {
		t.Errorf("kept %+v", k)
	}
	f.well()
}

// A release that comes while the hooks read what was kept is not lost.
func TestReleaseAtLoad(t *testing.T) {
	f := newFakeHost(t)
	f.kvs[keptKey] = `[{"id":9,"ranks":"2","gen":5}]`
	h := New(f, newConfig())
	released := 0
	h.Release(idset.NewRange(0, 3), func(r wire.ReleaseResponse) { released = len(r.Released) })
	f.pass(time.Second)
	if released != 1 || len(h.kept) != 0 {
		t.Errorf("released %d, kept %v", released, h.kept)
	}
}

// The end of a job that a rank may not have heard is told again when another
// job waits there.
func TestEndIsToldAgain(t *testing.T) {
	f, h := newHooks(t, nil)
	toStopping(f, h, 1, "0-1").answer(wire.SetResponse{})
	finished(h, 1)
	f.well()
	h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 0)))
	idle := f.expect("1 idle 0-1")[0]
	idle.answer(wire.SetResponse{Failed: []wire.RankText{{Ranks: idset.New(1), Reason: "not reached: rank 0 on the way there does not answer"}}})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
	toStopping(f, h, 2, "1").answer(waiting(1))
	f.pass(waitFirst)
	again := f.expect("1 idle 1; 2 run 1")
	if again[0].Gen != idle.Gen {
		t.Errorf("generation %d, was %d", again[0].Gen, idle.Gen)
	}
	again[0].answer(wire.SetResponse{})
	if len(h.owed) != 0 {
		t.Errorf("owed: %v", h.owed)
	}
}

// An answer tells of the time before it was sent as well: ranks that became
// unclean meanwhile stay so.
func TestOldAnswer(t *testing.T) {
	f, h := newHooks(t, nil)
	h.check(idset.NewRange(0, 3))
	check := f.take()[0]
	toStopping(f, h, 1, "2").answer(wire.SetResponse{})
	finished(h, 1)
	f.well()
	h.JobEvent(eventArgs(1, "epilog-finish", ended(dwsEpilog, 0)))
	f.take()[0].answer(wire.SetResponse{Failed: []wire.RankText{{Ranks: idset.New(2), Reason: "stop a: no"}}})
	check.answer(wire.SetResponse{})
	h.Run(runArgs(2, false, "2"))
	if f.opened() != "2 burrow-prolog" {
		t.Errorf("a job starts beside a service that may be up: open: %q", f.opened())
	}
	f.expect("2 run 2")
	h.Run(runArgs(3, false, "3"))
	f.expect("")
}

// Ranks answer at different times; where another job had services up between
// the first answer and the last, all are asked again.
func TestUpBetweenAnswers(t *testing.T) {
	f, h := newHooks(t, nil)
	w := toStopping(f, h, 1, "0-3")
	rabbit(h, 2, "1")
	f.well()
	w.answer(wire.SetResponse{})
	if f.opened() != "1 burrow-prolog, 2 burrow-prolog" {
		t.Fatalf("open: %s", f.opened())
	}
	environment(h, 2)
	f.expect("2 run 1")[0].answer(wire.SetResponse{})
	f.expect("1 run 0-3")[0].answer(wire.SetResponse{})
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// After a load the check that ends what earlier loads asked for does not
// overtake a wish that keeps a mount going.
func TestCheckDoesNotOvertake(t *testing.T) {
	f := newFakeHost(t)
	f.open["1 "+prologName] = 1
	f.kvs["log 1"] = `{"timestamp":1,"name":"prolog-start","context":{"description":"burrow-prolog"}}`
	h := New(f, newConfig())
	h.New(runArgs(1, true, "0-1"))
	f.pass(commitWait)
	f.expect("1 mount 0-1; 0 idle 2-3")[0].answer(wire.SetResponse{})
	f.expect("0 idle 0-1")
}

// Generations grow over loads, also where the clock was set back.
func TestGenerationOverLoads(t *testing.T) {
	f, h := newHooks(t, nil)
	rabbit(h, 1, "0")
	last := f.take()[0].Gen
	for _, back := range []time.Duration{0, time.Hour, 1000 * time.Hour} {
		h.Close()
		f.now = f.now.Add(-back)
		h = New(f, newConfig())
		f.pass(time.Minute)
		for _, w := range f.take() {
			if w.Gen <= last {
				t.Errorf("clock set back by %v: %v has generation %d, the last was %d", back, w, w.Gen, last)
			}
		}
		rabbit(h, 2, "0")
		last = f.take()[0].Gen
	}
}

// Jobs of one moment are asked in the order of their ids, so that a history
// can be played again.
func TestOrder(t *testing.T) {
	f, h := newHooks(t, nil)
	for id := 9; id > 0; id-- {
		rabbit(h, id, "0")
	}
	f.take()
	var ids []uint64
	h.Wanted(0, func(r wire.WantedResponse, _ bool) {
		for _, n := range r.Needs {
			ids = append(ids, n.ID)
			if n.Phase != phase.Mount {
				t.Errorf("need %+v", n)
			}
		}
	})
	for i, id := range ids {
		if id != uint64(i+1) {
			t.Fatalf("order %v", ids)
		}
	}
}
