// SPDX-License-Identifier: LGPL-3.0-or-later

package sim

import (
	"container/heap"
	"math"
	"strings"
	"syscall"
	"time"

	"flux-burrow/module/sched"
)

// host is what the engine has for surroundings: a clock that goes on when there
// is nothing left to do, and services that answer at once. What is posted is
// done in order, never from within the call that posts it.
type host struct {
	now      int64 // microseconds since 1970; a float64 of seconds has no more
	posts    []func()
	timers   timers
	count    int // of timers, for their order
	foretell time.Duration
	kvs      map[string]string
	// services answer requests; reply may be called as often as there are
	// responses.
	services map[string]func(payload string, reply func(string, error))
	log      []string // warnings and errors
	stopErr  error
	stopped  bool
}

func newHost() *host {
	return &host{now: epoch, kvs: map[string]string{}, services: map[string]func(string, func(string, error)){}}
}

func (h *host) post(f func()) { h.posts = append(h.posts, f) }

// settle does all there is to do at this instant.
func (h *host) settle() {
	for {
		for len(h.timers) > 0 && h.timers[0].at <= h.now {
			if t := heap.Pop(&h.timers).(*timer); !t.dead {
				h.post(t.fire)
			}
		}
		if len(h.posts) == 0 {
			return
		}
		posts := h.posts
		h.posts = nil
		for _, f := range posts {
			f()
		}
	}
}

// next is when there is something to do again; false if never.
func (h *host) next() (at int64, is bool) {
	for len(h.timers) > 0 && h.timers[0].dead {
		heap.Pop(&h.timers)
	}
	if len(h.timers) == 0 {
		return 0, false
	}
	return h.timers[0].at, true
}

// at calls f at a time of the clock.
func (h *host) at(at int64, f func()) *timer {
	h.count++
	t := &timer{at: max(at, h.now), order: h.count, f: f}
	heap.Push(&h.timers, t)
	return t
}

func (h *host) Now() float64 { return float64(h.now) / 1e6 }

func (h *host) Log(level sched.Level, text string) {
	if level <= sched.Warning && len(h.log) < 100 {
		h.log = append(h.log, text)
	}
}

func (h *host) Call(topic, payload string, done func(string, error)) {
	answered := false
	h.Stream(topic, payload, func(p string, err error) {
		if !answered {
			answered = true
			done(p, err)
		}
	})
}

func (h *host) Stream(topic, payload string, each func(string, error)) {
	h.post(func() {
		s := h.services[topic]
		if s == nil {
			h.post(func() { each("", syscall.ENOSYS) })
			return
		}
		s(payload, func(p string, err error) { h.post(func() { each(p, err) }) })
	})
}

func (h *host) Lookup(key string, done func(string, error)) {
	h.post(func() {
		value, ok := h.kvs[key]
		if !ok {
			done("", syscall.ENOENT)
			return
		}
		done(value, nil)
	})
}

// Commit keeps what is not a job's: an R is in the response too.
func (h *host) Commit(entries []sched.Entry, done func(error)) {
	h.post(func() {
		for _, e := range entries {
			if !strings.HasPrefix(e.Key, "job.") {
				h.kvs[e.Key] = e.Value
			}
		}
		done(nil)
	})
}

// After puts rounds of annotations further apart: the engine makes one a second
// while jobs wait. They change nothing in what starts, and over months of the
// virtual clock there would be millions.
func (h *host) After(d time.Duration, f func()) sched.Timer {
	if d == time.Second {
		d = h.foretell
	}
	return h.at(h.now+int64(math.Ceil(float64(d)/1e3)), f)
}

func (h *host) Stop(err error) { h.stopped, h.stopErr = true, err }

// timer is a call that is to come.
type timer struct {
	at    int64
	order int
	f     func()
	dead  bool
}

func (t *timer) Stop() { t.dead = true }

func (t *timer) fire() {
	if !t.dead {
		t.f()
	}
}

// timers is a heap.
type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(*timer)) }
func (t *timers) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

// request is a request to the engine.
type request struct {
	reply func(payload string, err error)
}

func (r request) Keep() sched.Request { return r }
func (request) Release()              {}
func (r request) Respond(p string) error {
	if r.reply != nil {
		r.reply(p, nil)
	}
	return nil
}
func (r request) RespondError(err error) error {
	if r.reply != nil {
		r.reply("", err)
	}
	return nil
}
