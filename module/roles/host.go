// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"cmp"
	"slices"
	"syscall"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/rv1reader/idset"
)

// host is a Flux handle with an owner for each future and timer, so that all
// end with the role.
type host struct {
	h       *flux.Handle
	rank    uint32
	futures map[*flux.Future]struct{}
	// calls are those of the futures that are Call's.
	calls  map[*flux.Future]call
	called uint64
	timers map[*flux.Timer]struct{}
	closed bool
	// held waits for the reactor's first turn, see holdTimers.
	held  []func()
	still bool
	// unhook ends the logging of panics to this handle.
	unhook func()
}

func newHost(h *flux.Handle) (*host, error) {
	rank, err := h.Rank()
	if err != nil {
		return nil, err
	}
	o := &host{h: h, rank: rank, futures: map[*flux.Future]struct{}{}, calls: map[*flux.Future]call{}, timers: map[*flux.Timer]struct{}{}}
	o.unhook = flux.OnPanic(func(text string) { h.Log(flux.LogCrit, "%s", text) })
	return o, nil
}

func (o *host) Rank() uint32 { return o.rank }

// holdTimers keeps what has a time limit back until the reactor has turned. A
// plugin that the configuration names is loaded before the job manager's loop
// runs for the first time, and that loop may then change from the monotonic
// clock, with which it was made by one copy of the event loop's code, to the
// realtime clock of another: all timers that were set before are over at once.
func (o *host) holdTimers() error {
	poster, err := o.h.NewPoster()
	if err != nil {
		return err
	}
	o.still = true
	o.unhook = both(o.unhook, poster.Destroy)
	poster.Post(func() {
		o.still = false
		held := o.held
		o.held = nil
		for _, fn := range held {
			if !o.closed {
				fn()
			}
		}
		poster.Destroy()
	})
	return nil
}

func both(a, b func()) func() { return func() { a(); b() } }

// turning calls fn once the reactor turns.
func (o *host) turning(fn func()) {
	if o.still {
		o.held = append(o.held, fn)
		return
	}
	fn()
}

// Call implements agent.Host.
func (o *host) Call(rank uint32, topic, payload string, limit time.Duration, done func(string, error)) {
	o.turning(func() {
		f, err := o.h.RPC(topic, payload, rank, 0)
		if err == nil {
			o.called++
			o.calls[f] = call{o.called, rank, done}
		}
		o.await(f, err, limit, func(f *flux.Future, err error) {
			var answer string
			if err == nil {
				delete(o.calls, f)
				answer, err = f.Get()
			}
			done(answer, err)
		})
	})
}

// call is a request that waits for an answer from a rank.
type call struct {
	n    uint64
	rank uint32
	done func(string, error)
}

// lost ends the calls that wait for an answer from ranks which the overlay
// knows to be lost. It does so itself for all but the one whose request was the
// first to find nobody there: that one is answered to nowhere (overlay.c).
func (o *host) lost(ranks *idset.Set) {
	var ended []call
	for f, c := range o.calls {
		if c.rank != flux.NodeAny && ranks.Contains(int(c.rank)) {
			o.drop(f)
			ended = append(ended, c)
		}
	}
	slices.SortFunc(ended, func(a, b call) int { return cmp.Compare(a.n, b.n) })
	for _, c := range ended {
		c.done("", &flux.Error{Num: syscall.EHOSTUNREACH, Text: "No route to host"})
	}
}

// stream asks a service for more than one answer. each has them one by one, at
// last an error.
func (o *host) stream(topic, payload string, each func(string, error)) {
	f, err := o.h.RPC(topic, payload, flux.NodeAny, flux.Streaming)
	if err == nil {
		o.futures[f] = struct{}{}
		err = f.Then(flux.Forever, func(f *flux.Future) {
			answer, err := f.Get()
			if err != nil {
				o.drop(f)
				each("", err)
				return
			}
			f.Reset()
			each(answer, nil)
		})
	}
	if err != nil {
		o.drop(f)
		o.After(0, func() { each("", err) })
	}
}

// await owns a future until it is done, and calls done once: with the future,
// or with why there is none.
func (o *host) await(f *flux.Future, err error, limit time.Duration, done func(*flux.Future, error)) {
	if err == nil {
		o.futures[f] = struct{}{}
		err = f.Then(limit, func(f *flux.Future) {
			done(f, nil)
			o.drop(f)
		})
	}
	if err != nil {
		o.drop(f)
		o.After(0, func() { done(nil, err) })
	}
}

func (o *host) drop(f *flux.Future) {
	delete(o.futures, f)
	delete(o.calls, f)
	f.Destroy()
}

// After implements agent.Host.
func (o *host) After(d time.Duration, fn func()) (cancel func()) {
	if o.closed {
		return func() {}
	}
	if o.still {
		stopped, stop := false, func() {}
		o.held = append(o.held, func() {
			if !stopped {
				stop = o.After(d, fn)
			}
		})
		return func() { stopped = true; stop() }
	}
	var t *flux.Timer
	cancel = func() {
		delete(o.timers, t)
		t.Destroy()
	}
	t, err := o.h.After(d, func() {
		cancel()
		fn()
	})
	if err != nil {
		// Out of memory: there is nothing left to do it with.
		o.h.Log(flux.LogCrit, "timer: %v", err)
		return func() {}
	}
	o.timers[t] = struct{}{}
	return cancel
}

// Now implements agent.Host.
func (o *host) Now() time.Time {
	return time.UnixMicro(int64(o.h.Now() * 1e6))
}

// Log implements agent.Host.
func (o *host) Log(level int, format string, args ...any) { o.h.Log(level, format, args...) }

// close ends all that is open; nothing calls back after it.
func (o *host) close() {
	o.closed = true
	o.unhook()
	for f := range o.futures {
		o.drop(f)
	}
	for t := range o.timers {
		delete(o.timers, t)
		t.Destroy()
	}
}

// wait makes a call and blocks for its answer: only before the reactor runs.
func (o *host) wait(topic, payload string, limit time.Duration) (string, error) {
	f, err := o.h.RPC(topic, payload, flux.NodeAny, 0)
	if err != nil {
		return "", err
	}
	defer f.Destroy()
	if err := f.Wait(limit); err != nil {
		return "", err
	}
	return f.Get()
}
