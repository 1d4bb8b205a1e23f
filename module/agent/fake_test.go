// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"fmt"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/hooks/phase"
)

// fakeHost is a reactor by hand: a queue of calls, and timers that fire when
// a test says so.
type fakeHost struct {
	rank   uint32
	now    time.Time
	queue  []func()
	timers []*fakeTimer
	call   func(rank uint32, topic, payload string, done func(string, error))
	log    []string
}

type fakeTimer struct {
	at time.Time
	fn func()
}

func newFakeHost() *fakeHost { return &fakeHost{now: time.Unix(1e9, 0)} }

func (h *fakeHost) Rank() uint32 { return h.rank }

func (h *fakeHost) Call(rank uint32, topic, payload string, _ time.Duration, done func(string, error)) {
	if h.call != nil {
		h.call(rank, topic, payload, done)
	}
}

func (h *fakeHost) After(d time.Duration, fn func()) func() {
	t := &fakeTimer{at: h.now.Add(d), fn: fn}
	h.timers = append(h.timers, t)
	return func() { t.fn = nil }
}

func (h *fakeHost) Now() time.Time { return h.now }

func (h *fakeHost) Log(_ int, format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *fakeHost) post(fn func()) { h.queue = append(h.queue, fn) }

// turn makes calls until none is left.
func (h *fakeHost) turn() {
	for len(h.queue) > 0 {
		fn := h.queue[0]
		h.queue = h.queue[1:]
		fn()
	}
}

// pass lets time pass.
func (h *fakeHost) pass(d time.Duration) {
	end := h.now.Add(d)
	for {
		h.turn()
		var next *fakeTimer
		for _, t := range h.timers {
			if t.fn != nil && !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		h.now = next.at
		fn := next.fn
		next.fn = nil
		fn()
	}
	h.now = end
}

// fakeUnits is a controller whose changes are over when a test says so.
type fakeUnits struct {
	host  *fakeHost
	state map[string]control.State
	// manual: changes wait for finish.
	manual  bool
	waiting []func()
	fail    map[string]error // by verb and unit
	changes []string
	// changed is called at the begin of each change.
	changed func(o control.Order)
	closed  bool
}

func newFakeUnits(h *fakeHost, units ...string) *fakeUnits {
	u := &fakeUnits{host: h, state: map[string]control.State{}, fail: map[string]error{}}
	for _, name := range units {
		u.state[name] = control.Down
	}
	return u
}

func (u *fakeUnits) Do(o control.Order, done func(error)) {
	u.changes = append(u.changes, fmt.Sprintf("%s %s", o.Verb, o.Unit))
	if u.changed != nil {
		u.changed(o)
	}
	end := func() {
		err := u.fail[string(o.Verb)+" "+o.Unit]
		if err == nil && u.state[o.Unit] == control.Absent {
			err = control.ErrAbsent
		}
		if err == nil {
			u.state[o.Unit] = wanted(o.Verb == control.Start)
		}
		done(err)
	}
	if u.manual {
		u.waiting = append(u.waiting, end)
		return
	}
	u.host.post(end)
}

// finish ends the change that is under way.
func (u *fakeUnits) finish() bool {
	if len(u.waiting) == 0 {
		return false
	}
	fn := u.waiting[0]
	u.waiting = u.waiting[1:]
	fn()
	u.host.turn()
	return true
}

func (u *fakeUnits) State(unit string, done func(control.State, error)) {
	u.host.post(func() { done(u.state[unit], nil) })
}

func (u *fakeUnits) Close() { u.closed = true }

func testConfig(services ...config.Service) *config.Config {
	c := config.Default()
	c.Control.Method = config.Command
	if len(services) > 0 {
		c.Services = services
	}
	return c
}

var clientMount = config.Service{Unit: "a.service", Up: phase.SetOf(phase.Mount, phase.Unmount)}
