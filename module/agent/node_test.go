// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

func newTestNode(services ...config.Service) (*fakeHost, *fakeUnits, *Node) {
	h := newFakeHost()
	cfg := testConfig(services...)
	if len(services) == 0 {
		cfg.Services = []config.Service{clientMount}
	}
	var names []string
	for _, s := range cfg.Services {
		names = append(names, s.Unit)
	}
	u := newFakeUnits(h, names...)
	n := NewNode(h, u, cfg)
	n.Resume(nil, 1)
	h.turn()
	return h, u, n
}

func need(id uint64, p phase.Phase, gen uint64) wire.Need {
	return wire.Need{ID: id, Phase: p, Gen: gen}
}

// First everything that goes down, in list order, then everything that goes up.
func TestChangeOrder(t *testing.T) {
	h, u, n := newTestNode(
		config.Service{Unit: "a", Up: phase.SetOf(phase.Mount)}, config.Service{Unit: "b", Up: phase.SetOf(phase.Idle)},
		config.Service{Unit: "c", Up: phase.SetOf(phase.Mount)}, config.Service{Unit: "d", Up: phase.SetOf(phase.Idle)})
	n.Set(need(1, phase.Mount, 2), func(Result) {})
	h.turn()
	want := []string{"start b", "start d", "stop b", "stop d", "start a", "start c"}
	if !slices.Equal(u.changes, want) {
		t.Errorf("changes %v, want %v", u.changes, want)
	}
}

// A service that ends by itself is started again, and not more often than so;
// one that somebody started is stopped.
func TestNotice(t *testing.T) {
	h, u, n := newTestNode()
	n.Set(need(1, phase.Mount, 2), func(Result) {})
	h.pass(time.Minute)
	ends := func() {
		u.state[clientMount.Unit] = control.Down
		n.Notice()
		h.pass(0)
	}
	u.changes = nil
	ends()
	if u.state[clientMount.Unit] != control.Up || len(u.changes) != 1 {
		t.Fatalf("%v, changes %v", u.state, u.changes)
	}
	ends()
	if u.state[clientMount.Unit] != control.Down {
		t.Error("started again at once")
	}
	n.Notice()
	h.pass(noticeEvery)
	if u.state[clientMount.Unit] != control.Up || len(u.changes) != 2 {
		t.Errorf("%v, changes %v", u.state, u.changes)
	}
	n.Set(need(1, phase.Run, 3), func(Result) {})
	h.pass(time.Minute)
	u.state[clientMount.Unit] = control.Up
	n.Notice()
	h.pass(noticeEvery)
	if u.state[clientMount.Unit] != control.Down {
		t.Error("a service that somebody started under a job is left up")
	}
	off := *n.cfg
	off.Enable = false
	n.Reconfigure(&off, nil)
	h.pass(time.Minute)
	u.state[clientMount.Unit] = control.Up
	n.Notice()
	n.Reconfigure(&off, nil)
	h.pass(time.Minute)
	if u.state[clientMount.Unit] != control.Up {
		t.Error("with enable = false a service was stopped")
	}
}

// A new service-timeout counts for wishes that wait already.
func TestLimitIsReloaded(t *testing.T) {
	h, u, n := newTestNode()
	u.manual = true
	answered := false
	n.Set(need(1, phase.Mount, 2), func(Result) { answered = true })
	h.turn()
	cfg := *n.cfg
	cfg.ServiceTimeout = time.Second
	n.Reconfigure(&cfg, nil)
	h.pass(time.Second + answerWait)
	if !answered {
		t.Error("the wish waits for as long as the old configuration says")
	}
}

// A longer one does not count for wishes that wait, nor for those that come just
// after: who asked may go by the old one, and is to have an answer.
func TestLongerLimitIsReloaded(t *testing.T) {
	for _, c := range []struct {
		after time.Duration // from the new configuration to the wish; below 0: before it
		long  bool
	}{{-1, false}, {0, false}, {reloadWait / 2, false}, {2 * reloadWait, true}} {
		h, u, n := newTestNode()
		u.manual = true
		old := n.cfg.ServiceTimeout
		answered := false
		set := func() { n.Set(need(1, phase.Mount, 2), func(Result) { answered = true }) }
		if c.after < 0 {
			set()
			h.turn()
		}
		cfg := *n.cfg
		cfg.ServiceTimeout = 3 * old
		n.Reconfigure(&cfg, nil)
		if c.after >= 0 {
			h.pass(c.after)
			set()
			h.turn()
		}
		h.pass(old + answerWait)
		if answered == c.long {
			t.Errorf("a wish %v after it: answered in the old time: %t", c.after, answered)
		}
		h.pass(2 * old)
		if !answered {
			t.Errorf("a wish %v after it: no answer", c.after)
		}
	}
}

// knowing is a controller that knows some units without asking.
type knowing struct {
	*fakeUnits
	known map[string]control.State
	asked []string
}

func (k *knowing) Remember(unit string) (control.State, bool) {
	s, ok := k.known[unit]
	return s, ok
}

func (k *knowing) State(unit string, done func(control.State, error)) {
	k.asked = append(k.asked, unit)
	k.fakeUnits.State(unit, done)
}

// What a controller knows is not asked for, and what it does not know is.
func TestRemembered(t *testing.T) {
	a := config.Service{Unit: "a.service", Up: phase.SetOf(phase.Mount)}
	b := config.Service{Unit: "b.service", Up: phase.SetOf(phase.Mount)}
	h := newFakeHost()
	k := &knowing{fakeUnits: newFakeUnits(h, a.Unit, b.Unit), known: map[string]control.State{a.Unit: control.Up}}
	n := NewNode(h, k, testConfig(a, b))
	n.Resume(nil, 1)
	h.turn()
	if len(k.asked) != 1 || k.asked[0] != b.Unit {
		t.Errorf("asked for %q", k.asked)
	}
	if got := strings.Join(k.changes, ", "); got != "stop a.service" {
		t.Errorf("changes: %s", got)
	}
}

// A service that is being changed is neither up nor down: a wish that runs out
// of time meanwhile is not answered as if all were well.
func TestLimitInMidChange(t *testing.T) {
	h, u, n := newTestNode()
	u.manual = true
	n.Set(need(1, phase.Mount, 2), func(Result) {})
	h.turn()
	if got := n.Status().Services[0].State; got != "unknown" {
		t.Errorf("a service that is started is %s", got)
	}
	var shared, own *Result
	n.Set(need(2, phase.Run, 3), func(r Result) { shared = &r })
	h.pass(2 * time.Minute)
	if shared == nil || !shared.Waiting || shared.Failed != nil {
		t.Errorf("while another job's start is under way: %+v", shared)
	}
	u.finish()
	n.Set(need(1, phase.Run, 4), func(r Result) { own = &r })
	h.pass(2 * time.Minute)
	if own == nil || own.Failed == nil || own.Failed.Error() != "1 error occurred:\n\t* stop a.service: not down after 1m0s\n\n" &&
		own.Failed.Error() != "stop a.service: not down after 1m0s" {
		t.Errorf("a stop that hangs: %+v", own)
	}
}

// What fails is tried again by itself, and has its reason until then.
func TestFailureIsRetried(t *testing.T) {
	h, u, n := newTestNode()
	u.fail["start a.service"] = errors.New("start a.service: no")
	var got Result
	n.Set(need(1, phase.Mount, 2), func(r Result) { got = r })
	h.turn()
	if got.Failed == nil || !strings.Contains(got.Failed.Error(), "start a.service: no") {
		t.Errorf("%+v", got)
	}
	if e := n.Status().Services[0].Error; e != "start a.service: no" {
		t.Errorf("status has %q", e)
	}
	delete(u.fail, "start a.service")
	h.pass(retryFirst)
	if u.state["a.service"] != control.Up {
		t.Error("not tried again")
	}
}

// A failure to bring up what another job needs is not a failure of a job that
// wants it down: that one waits.
func TestFailureOfAnotherJob(t *testing.T) {
	h, u, n := newTestNode()
	u.fail["start a.service"] = errors.New("start a.service: no")
	n.Set(need(1, phase.Mount, 2), func(Result) {})
	var got Result
	n.Set(need(2, phase.Run, 3), func(r Result) { got = r })
	h.turn()
	if got.Failed != nil || !got.Waiting {
		t.Errorf("%+v", got)
	}
}

func TestAbsentUnit(t *testing.T) {
	h, u, n := newTestNode()
	u.state["a.service"] = control.Absent
	var got Result
	n.Set(need(1, phase.Mount, 2), func(r Result) { got = r })
	h.turn()
	if got.Failed != nil || !slices.Equal(got.Skipped, []string{"a.service"}) {
		t.Errorf("%+v", got)
	}
}

// Close answers what waits, once.
func TestNodeClose(t *testing.T) {
	h, u, n := newTestNode()
	u.manual = true
	answers := 0
	n.Set(need(1, phase.Mount, 2), func(r Result) {
		answers++
		if r.Failed == nil {
			t.Error("answered well")
		}
	})
	h.turn()
	n.Close()
	for u.finish() {
	}
	h.pass(time.Hour)
	if answers != 1 || !u.closed {
		t.Errorf("%d answers", answers)
	}
}

// A new controller takes over when the change that the old one makes is over.
func TestControllerChangesBetweenChanges(t *testing.T) {
	h, u, n := newTestNode()
	u.manual = true
	n.Set(need(1, phase.Mount, 2), func(Result) {})
	h.turn()
	first, last := newFakeUnits(h, "a.service"), newFakeUnits(h, "a.service")
	last.state["a.service"] = control.Up
	n.Reconfigure(n.cfg, first)
	n.Reconfigure(n.cfg, last)
	h.turn()
	if u.closed || !first.closed || len(last.changes) > 0 {
		t.Fatalf("in mid-change: old closed %t, one that is not needed closed %t, changes %v", u.closed, first.closed, last.changes)
	}
	n.Set(need(1, phase.Run, 3), func(Result) {})
	u.finish()
	h.turn()
	if !u.closed || !slices.Equal(last.changes, []string{"stop a.service"}) {
		t.Errorf("old closed %t, changes of the new %v", u.closed, last.changes)
	}
	n.Reconfigure(n.cfg, first)
	n.Close()
	if !last.closed || !first.closed {
		t.Error("left open")
	}
}
