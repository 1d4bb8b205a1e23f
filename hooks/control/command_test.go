// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeRunner keeps virtual time and runs nothing. A test ends its processes.
type fakeRunner struct {
	now    time.Duration
	timers []*fakeTimer
	procs  []*fakeProc
	// inside Run, end at once with this.
	cannotStart error
}

type fakeTimer struct {
	at   time.Duration
	f    func()
	gone bool
}

type fakeProc struct {
	argv   []string
	env    map[string]string
	exited func(int, string, error)
	kills  []int
	killed []time.Duration
	r      *fakeRunner
	ended  bool
}

func (r *fakeRunner) Run(argv []string, env map[string]string, exited func(int, string, error)) Process {
	p := &fakeProc{argv: argv, env: env, exited: exited, r: r}
	r.procs = append(r.procs, p)
	if r.cannotStart != nil {
		p.ended = true
		exited(0, "", r.cannotStart)
	}
	return p
}

func (r *fakeRunner) After(d time.Duration, f func()) func() {
	t := &fakeTimer{at: r.now + d, f: f}
	r.timers = append(r.timers, t)
	return func() { t.gone = true }
}

func (p *fakeProc) Kill(sig int) {
	p.kills = append(p.kills, sig)
	p.killed = append(p.killed, p.r.now)
}

func (p *fakeProc) exit(status int, last string) {
	p.ended = true
	p.exited(status<<8, last, nil)
}

// advance lets virtual time pass.
func (r *fakeRunner) advance(d time.Duration) {
	end := r.now + d
	for {
		next := -1
		for i, t := range r.timers {
			if !t.gone && t.at <= end && (next < 0 || t.at < r.timers[next].at) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		t := r.timers[next]
		r.timers = slices.Delete(r.timers, next, next+1)
		r.now = max(r.now, t.at)
		t.f()
	}
	r.now = end
}

// live is how many timers are set.
func (r *fakeRunner) live() int {
	n := 0
	for _, t := range r.timers {
		if !t.gone {
			n++
		}
	}
	return n
}

var testArgv = map[Verb][]string{
	Start: {"up", "{{unit}}"},
	Stop:  {"down", "--name={{service}}"},
}

var testArgvStatus = map[Verb][]string{
	Start:  {"up", "{{unit}}"},
	Stop:   {"down", "{{unit}}"},
	Status: {"is", "{{unit}}"},
}

// results collects what done was called with.
type results []error

func (l *results) add(err error) { *l = append(*l, err) }

func testOrder(verb Verb) Order {
	return Order{Verb: verb, Unit: "a.service", Phase: "mount", JobID: 4711, Rank: 3, Timeout: time.Minute}
}

func TestCommandEnvironment(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, testArgv)
	var got results
	c.Do(testOrder(Start), got.add)
	idle := testOrder(Stop)
	idle.JobID, idle.Phase = 0, "idle"
	c.Do(idle, got.add)
	if len(r.procs) != 0 {
		t.Fatal("a process was started inside Do")
	}
	r.advance(0)
	r.procs[0].exit(0, "")
	r.advance(0)
	r.procs[1].exit(0, "")
	want := []struct {
		argv []string
		env  map[string]string
	}{
		{[]string{"up", "a.service"}, map[string]string{"BURROW_VERB": "start", "BURROW_UNIT": "a.service",
			"BURROW_RANK": "3", "BURROW_PHASE": "mount", "FLUX_JOB_ID": "4711"}},
		{[]string{"down", "--name=a"}, map[string]string{"BURROW_VERB": "stop", "BURROW_UNIT": "a.service",
			"BURROW_RANK": "3", "BURROW_PHASE": "idle"}},
	}
	for i, w := range want {
		if d := cmp.Diff(w.argv, r.procs[i].argv); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(w.env, r.procs[i].env); d != "" {
			t.Error(d)
		}
	}
	if len(got) != 2 || got[0] != nil || got[1] != nil {
		t.Errorf("done: %v", got)
	}
	if n := r.live(); n != 0 {
		t.Errorf("%d timers are set at rest", n)
	}
}

func TestCommandFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(*fakeProc)
		reason string
	}{
		{"exit", func(p *fakeProc) { p.exit(7, " no such thing ") }, "start a.service: up: exit status 7: no such thing"},
		{"no stderr", func(p *fakeProc) { p.exit(1, "") }, "start a.service: up: exit status 1"},
		{"signal", func(p *fakeProc) { p.exited(9, "so far", nil) }, "start a.service: up: killed by signal 9 (killed): so far"},
		{"exec", func(p *fakeProc) { p.exited(0, "", errors.New("no such file")) }, "start a.service: up: could not be started: no such file"},
		{"control characters", func(p *fakeProc) { p.exit(1, "a\x1b[31mb\nc") }, "start a.service: up: exit status 1: a [31mb c"},
		{"long", func(p *fakeProc) { p.exit(1, strings.Repeat("é", 1000)) },
			"start a.service: up: exit status 1: " + strings.Repeat("é", tailMax/2) + "..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &fakeRunner{}
			ctl := NewCommand(r, testArgv)
			var got results
			ctl.Do(testOrder(Start), got.add)
			r.advance(0)
			c.end(r.procs[0])
			if len(got) != 1 || got[0] == nil || got[0].Error() != c.reason {
				t.Fatalf("done: %v, want %s", got, c.reason)
			}
			r.advance(time.Hour)
			if len(got) != 1 || len(r.procs[0].kills) != 0 {
				t.Fatalf("later: %v, kills %v", got, r.procs[0].kills)
			}
		})
	}
}

func TestCommandRunnerThatFailsAtOnce(t *testing.T) {
	r := &fakeRunner{cannotStart: errors.New("not on this machine")}
	c := NewCommand(r, testArgvStatus)
	var got results
	for range 3 {
		c.Do(testOrder(Start), got.add)
	}
	if len(got) != 0 {
		t.Fatal("done was called inside Do")
	}
	var state State = Up
	c.State("b.service", func(s State, err error) {
		state = s
		wantError(t, err, "status b.service: is: could not be started: not on this machine")
	})
	r.advance(time.Hour)
	if len(got) != 3 {
		t.Fatalf("done: %v", got)
	}
	for _, err := range got {
		wantError(t, err, "start a.service: up: could not be started: not on this machine")
	}
	if state != Unknown {
		t.Errorf("state is %v", state)
	}
}

func TestCommandTimeout(t *testing.T) {
	kill := syscall.SIGKILL
	for _, c := range []struct {
		name  string
		argv  string
		endAt time.Duration // 0: never
		kills []syscall.Signal
		done  time.Duration
		parts []string
	}{
		{"ends at SIGTERM", "up", time.Minute + time.Second, []syscall.Signal{syscall.SIGTERM}, time.Minute + time.Second,
			[]string{"start a.service: up: timed out after 1m0s: last words"}},
		{"ends at SIGKILL", "up", time.Minute + 6*time.Second, []syscall.Signal{syscall.SIGTERM, kill}, time.Minute + 6*time.Second,
			[]string{"timed out after 1m0s: last words"}},
		{"never ends", "up", 0, []syscall.Signal{syscall.SIGTERM, kill}, time.Minute + 7*time.Second,
			[]string{"timed out after 1m0s", "did not end when killed"}},
		{"the IMP", "/usr/libexec/flux/flux-imp", 0, []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1}, time.Minute + 7*time.Second,
			[]string{"flux-imp: timed out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &fakeRunner{}
			ctl := NewCommand(r, map[Verb][]string{Start: {c.argv}, Stop: {"down"}})
			var got results
			var at []time.Duration
			ctl.Do(testOrder(Start), func(err error) { got.add(err); at = append(at, r.now) })
			ctl.Do(testOrder(Stop), got.add)
			r.advance(0)
			p := r.procs[0]
			if c.endAt != 0 {
				r.After(c.endAt, func() { p.exit(0, "last words") })
			}
			r.advance(time.Minute - 1)
			if len(p.kills) != 0 {
				t.Fatal("killed too early")
			}
			r.advance(20 * time.Second)
			if len(got) != 1 || at[0] != c.done {
				t.Fatalf("done %v at %v, want at %v", got, at, c.done)
			}
			wantError(t, got[0], c.parts...)
			var kills []int
			for _, k := range c.kills {
				kills = append(kills, int(k))
			}
			if d := cmp.Diff(kills, p.kills); d != "" {
				t.Error(d)
			}
			if p.killed[0] != time.Minute || len(p.killed) > 1 && p.killed[1] != time.Minute+5*time.Second {
				t.Errorf("killed at %v", p.killed)
			}
			if len(r.procs) != 2 {
				t.Fatal("the next order did not begin")
			}
			if c.endAt == 0 {
				p.exit(0, "") // at last; nobody waits any more
			}
			r.procs[1].exit(0, "")
			if len(got) != 2 || got[1] != nil {
				t.Fatalf("next: %v", got)
			}
			if r.advance(time.Hour); r.live() != 0 {
				t.Errorf("%d timers left", r.live())
			}
		})
	}
}

func TestCommandRefused(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, map[Verb][]string{Start: {"up"}})
	var got results
	c.Do(testOrder(Stop), got.add)
	bad := testOrder(Start)
	bad.Timeout = 0
	c.Do(bad, got.add)
	c.Do(testOrder(Status), got.add)
	r.advance(0)
	if len(got) != 3 || len(r.procs) != 0 {
		t.Fatalf("done: %v", got)
	}
	wantError(t, got[0], "stop a.service: no command", "[burrow.control]")
	wantError(t, got[1], "start a.service: a timeout of 0s")
	wantError(t, got[2], "status a.service:", "start or stop")
}

func TestCommandAbsent(t *testing.T) {
	for _, c := range []struct {
		status int
		absent bool
	}{{0, false}, {3, false}, {4, true}, {5, false}} {
		r := &fakeRunner{}
		ctl := NewCommand(r, testArgvStatus)
		var got results
		ctl.Do(testOrder(Start), got.add)
		r.advance(0)
		r.procs[0].exit(5, "Unit a.service not loaded.")
		if len(got) != 0 {
			t.Fatal("the status command was not asked")
		}
		if d := cmp.Diff([]string{"is", "a.service"}, r.procs[1].argv); d != "" {
			t.Fatal(d)
		}
		r.procs[1].exit(c.status, "")
		if len(got) != 1 || errors.Is(got[0], ErrAbsent) != c.absent {
			t.Errorf("status %d: done %v", c.status, got)
		}
		if !c.absent {
			wantError(t, got[0], "start a.service: up: exit status 5: Unit a.service not loaded.")
		}
	}
}

func TestCommandState(t *testing.T) {
	for _, c := range []struct {
		end  func(*fakeProc)
		want State
		err  string
	}{
		{func(p *fakeProc) { p.exit(0, "") }, Up, ""},
		{func(p *fakeProc) { p.exit(1, "what") }, Down, ""},
		{func(p *fakeProc) { p.exit(3, "") }, Down, ""},
		{func(p *fakeProc) { p.exit(4, "") }, Absent, ""},
		{func(p *fakeProc) { p.exit(127, "not found") }, Unknown, "exit status 127: not found"},
		{func(p *fakeProc) { p.exited(15, "", nil) }, Unknown, "killed by signal 15"},
		{func(p *fakeProc) { p.exited(0, "", errors.New("nope")) }, Unknown, "could not be started: nope"},
		{func(p *fakeProc) { p.r.advance(11 * time.Second); p.exit(0, "") }, Unknown, "timed out after 10s"},
	} {
		r := &fakeRunner{}
		ctl := NewCommand(r, testArgvStatus)
		var states []State
		ask := func() {
			ctl.State("a.service", func(s State, err error) {
				states = append(states, s)
				if (err != nil) != (c.err != "") {
					t.Errorf("error is %v, want %q", err, c.err)
				} else if err != nil {
					wantError(t, err, "status a.service: is:", c.err)
				}
			})
		}
		ask()
		r.advance(0)
		ask() // shares the process
		c.end(r.procs[0])
		r.advance(0)
		if len(r.procs) != 1 || !slices.Equal(states, []State{c.want, c.want}) {
			t.Errorf("states %v of %d processes, want %v", states, len(r.procs), c.want)
		}
		if _, ok := r.procs[0].env["FLUX_JOB_ID"]; ok {
			t.Error("a status command has a job")
		}
	}
}

func TestCommandStateUnderOrder(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, testArgvStatus)
	var states []State
	note := func(s State, err error) {
		if err != nil {
			t.Error(err)
		}
		states = append(states, s)
	}
	c.State("a.service", note)
	r.advance(0)
	var got results
	c.Do(testOrder(Start), got.add)
	r.advance(0)
	c.State("a.service", note) // an order is under way: at once
	if len(states) != 0 {
		t.Fatal("called inside State")
	}
	r.advance(0)
	r.procs[0].exit(3, "") // asked before the order, answered under it
	r.procs[1].exit(0, "")
	c.State("a.service", note)
	r.advance(0)
	r.procs[2].exit(0, "")
	if !slices.Equal(states, []State{Unknown, Unknown, Up}) {
		t.Errorf("states %v", states)
	}
}

func TestCommandStateFromMemory(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, testArgv)
	expect := func(want State) {
		t.Helper()
		called := false
		c.State("a.service", func(s State, err error) {
			called = true
			if s != want || err != nil {
				t.Errorf("state is %v (%v), want %v", s, err, want)
			}
		})
		if called {
			t.Error("called inside State")
		}
		r.advance(0)
		if !called {
			t.Error("not called")
		}
	}
	end := func(verb Verb, status int) {
		c.Do(testOrder(verb), func(error) {})
		r.advance(0)
		expect(Unknown)
		r.procs[len(r.procs)-1].exit(status, "")
	}
	expect(Unknown)
	end(Start, 0)
	expect(Up)
	end(Stop, 0)
	expect(Down)
	end(Start, 1)
	expect(Unknown)
}

func TestCommandClose(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, testArgvStatus)
	fail := func(error) { t.Error("done after Close") }
	c.Do(testOrder(Start), fail)
	c.Do(testOrder(Stop), fail)
	c.State("b.service", func(State, error) { t.Error("State after Close") })
	r.advance(0)
	c.Close()
	c.Close()
	for _, p := range r.procs {
		if !slices.Equal(p.kills, []int{int(syscall.SIGTERM)}) {
			t.Errorf("%v was sent signals %v", p.argv, p.kills)
		}
		p.exited(15, "", nil)
	}
	c.Do(testOrder(Start), fail)
	c.State("a.service", func(State, error) { t.Error("State after Close") })
	if r.advance(time.Hour); len(r.procs) != 2 || r.live() != 0 {
		t.Errorf("%d processes, %d timers", len(r.procs), r.live())
	}
}

// TestCommandCloseInDone closes the controller from an order's done.
func TestCommandCloseInDone(t *testing.T) {
	r := &fakeRunner{}
	c := NewCommand(r, testArgv)
	c.Do(testOrder(Start), func(error) { c.Close() })
	c.Do(testOrder(Stop), func(error) { t.Error("done after Close") })
	r.advance(0)
	r.procs[0].exit(0, "")
	if r.advance(time.Hour); len(r.procs) != 1 {
		t.Errorf("%d processes", len(r.procs))
	}
}

func TestStateString(t *testing.T) {
	got := fmt.Sprint(Unknown, Down, Up, Absent, State(99))
	if want := "unknown down up absent unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
