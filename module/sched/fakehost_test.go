// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"sort"
	"syscall"
	"testing"
	"time"
)

// fakeHost is a Host whose answers come when a test lets them: each sender has
// a line of its own in which order is kept, and step takes the head of one of
// them.
type fakeHost struct {
	t     testing.TB
	now   float64
	lines map[string][]func()
	names []string // lines that have something, sorted
	// choose picks one of n lines; nil takes the first.
	choose func(n int) int
	timers []*fakeTimer
	log    []string
	kvs    map[string]string
	// services answer requests: a service calls reply as often as it likes, at
	// once, and the host delivers in order.
	services map[string]func(payload string, reply func(payload string, err error))
	failNext int // commits that fail
	stopped  bool
	stopErr  error
	lookups  int
	maxOpen  int
	open     int
}

type fakeTimer struct {
	at   float64
	f    func()
	dead bool
}

func (t *fakeTimer) Stop() { t.dead = true }

func newFakeHost(t testing.TB) *fakeHost {
	return &fakeHost{
		t: t, now: 1e9, lines: map[string][]func(){}, kvs: map[string]string{},
		services: map[string]func(string, func(string, error)){},
	}
}

func (h *fakeHost) post(line string, f func()) {
	if len(h.lines[line]) == 0 {
		h.names = append(h.names, line)
		sort.Strings(h.names)
	}
	h.lines[line] = append(h.lines[line], f)
}

// step delivers one thing; false if there is nothing but timers.
func (h *fakeHost) step() bool {
	for i := 0; i < len(h.timers); i++ {
		t := h.timers[i]
		if t.dead {
			h.timers = append(h.timers[:i], h.timers[i+1:]...)
			i--
			continue
		}
		if t.at <= h.now {
			h.timers = append(h.timers[:i], h.timers[i+1:]...)
			f := t.f
			h.post("timer", func() {
				if !t.dead {
					f()
				}
			})
			i--
		}
	}
	if len(h.names) == 0 {
		return false
	}
	k := 0
	if h.choose != nil {
		k = h.choose(len(h.names))
	}
	name := h.names[k]
	f := h.lines[name][0]
	h.lines[name] = h.lines[name][1:]
	if len(h.lines[name]) == 0 {
		h.names = append(h.names[:k:k], h.names[k+1:]...)
	}
	f()
	return true
}

// run delivers all there is.
func (h *fakeHost) run() {
	for i := 0; h.step(); i++ {
		if i > 5_000_000 {
			h.t.Fatal("the engine does not come to rest")
		}
	}
}

// advance lets time pass.
func (h *fakeHost) advance(d float64) {
	h.run()
	h.now += d
	h.run()
}

func (h *fakeHost) Now() float64 { return h.now }

func (h *fakeHost) Log(level Level, text string) {
	h.log = append(h.log, fmt.Sprintf("%d %s", level, text))
}

func (h *fakeHost) logged(level Level) int {
	n := 0
	for _, l := range h.log {
		if l[0] == '0'+byte(level) {
			n++
		}
	}
	return n
}

func service(topic string) string {
	for i := range topic {
		if topic[i] == '.' {
			return topic[:i]
		}
	}
	return topic
}

func (h *fakeHost) Call(topic, payload string, done func(string, error)) {
	line := "to-" + service(topic)
	h.post(line, func() {
		s := h.services[topic]
		answered := false
		reply := func(p string, err error) {
			if !answered {
				answered = true
				h.post("from-"+service(topic), func() { done(p, err) })
			}
		}
		if s == nil {
			reply("", syscall.ENOSYS)
			return
		}
		s(payload, reply)
	})
}

func (h *fakeHost) Stream(topic, payload string, each func(string, error)) {
	h.post("to-"+service(topic), func() {
		s := h.services[topic]
		if s == nil {
			h.post("from-"+service(topic), func() { each("", syscall.ENOSYS) })
			return
		}
		s(payload, func(p string, err error) {
			h.post("from-"+service(topic), func() { each(p, err) })
		})
	})
}

func (h *fakeHost) Lookup(key string, done func(string, error)) {
	h.lookups++
	h.open++
	h.maxOpen = max(h.maxOpen, h.open)
	h.post("kvs", func() {
		value, ok := h.kvs[key]
		h.open--
		if !ok {
			done("", syscall.ENOENT)
			return
		}
		done(value, nil)
	})
}

func (h *fakeHost) Commit(entries []Entry, done func(error)) {
	h.post("kvs", func() {
		if h.failNext > 0 {
			h.failNext--
			done(syscall.EIO)
			return
		}
		for _, e := range entries {
			h.kvs[e.Key] = e.Value
		}
		h.post("kvs", func() { done(nil) })
	})
}

func (h *fakeHost) After(d time.Duration, f func()) Timer {
	t := &fakeTimer{at: h.now + d.Seconds(), f: f}
	h.timers = append(h.timers, t)
	return t
}

func (h *fakeHost) Stop(err error) { h.stopped, h.stopErr = true, err }

// fakeRequest is a request to the engine; its answers go to reply.
type fakeRequest struct {
	kept  int
	reply func(payload string, err error)
}

func (r *fakeRequest) Keep() Request { r.kept++; return r }
func (r *fakeRequest) Release()      { r.kept-- }
func (r *fakeRequest) Respond(p string) error {
	if r.reply != nil {
		r.reply(p, nil)
	}
	return nil
}
func (r *fakeRequest) RespondError(err error) error {
	if r.reply != nil {
		r.reply("", err)
	}
	return nil
}

// send gives the engine a request.
func send(e *Engine, topic, payload string, reply func(string, error)) *fakeRequest {
	r := &fakeRequest{reply: reply}
	for i := range Handlers {
		if Handlers[i].Topic == topic {
			e.Handle(&Handlers[i], payload, r)
		}
	}
	return r
}
