// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"container/heap"
	"time"
)

// task is one turn of somebody's reactor: a message to dispatch, a
// continuation, a timer, or a step of one of the instance's own parts.
type task struct {
	owner *Handle // nil: nobody's, never held back
	fn    func()
	msg   *Msg
	fut   *Future
	// stashed: the first of what the owner's stash has.
	stashed bool
}

// channel is a queue whose order is fixed: messages of one sender to one
// receiver, and what one reactor has queued for itself. Between channels the
// order is open, and chosen by the seed.
type channel struct {
	tasks  []task
	head   int
	active int // index in loop.active, -1 when empty
}

// loop is the instance's only thread of control.
type loop struct {
	fifo     []task
	fifoHead int
	channels map[uint64]*channel
	active   []*channel
	pending  int
}

func (in *Instance) random() bool { return in.opts.Seed != 0 }

// post queues a task. from and to name the channel by its ends.
func (in *Instance) post(from, to uint32, t task) {
	l := &in.loop
	l.pending++
	if !in.random() {
		l.fifo = append(l.fifo, t)
		return
	}
	key := uint64(from)<<32 | uint64(to)
	c := l.channels[key]
	if c == nil {
		c = &channel{active: -1}
		l.channels[key] = c
	}
	c.tasks = append(c.tasks, t)
	if c.active < 0 {
		c.active = len(l.active)
		l.active = append(l.active, c)
	}
}

// postSelf queues a turn of h's own reactor.
func (in *Instance) postSelf(h *Handle, fn func()) {
	in.post(h.id, h.id, task{owner: h, fn: fn})
}

func (l *loop) take(in *Instance) task {
	l.pending--
	if !in.random() {
		t := l.fifo[l.fifoHead]
		l.fifo[l.fifoHead] = task{}
		if l.fifoHead++; l.fifoHead == len(l.fifo) {
			l.fifo, l.fifoHead = l.fifo[:0], 0
		} else if l.fifoHead > 1024 && l.fifoHead*2 > len(l.fifo) {
			l.fifo = append(l.fifo[:0], l.fifo[l.fifoHead:]...)
			l.fifoHead = 0
		}
		return t
	}
	i := in.rng.IntN(len(l.active))
	c := l.active[i]
	t := c.tasks[c.head]
	c.tasks[c.head] = task{}
	if c.head++; c.head == len(c.tasks) {
		c.tasks, c.head = c.tasks[:0], 0
		last := l.active[len(l.active)-1]
		l.active[i], last.active = last, i
		l.active = l.active[:len(l.active)-1]
		c.active = -1
	}
	return t
}

// Step makes one step, as small as any can be seen from outside: a message
// is dispatched, a continuation, a timer or a watcher is called. Virtual time
// moves only when nothing else can be done. False: nothing is left to do.
func (in *Instance) Step() bool { return in.step(-1) }

func (in *Instance) step(limit time.Duration) bool {
	for in.loop.pending > 0 {
		if in.run(in.loop.take(in)) {
			in.steps++
			return true
		}
	}
	// Idle: what descriptors have comes before time moves.
	if in.pollFDs(0) > 0 {
		return in.step(limit)
	}
	for in.Busy() > 0 && !in.opts.RealTime {
		if in.pollFDs(time.Second) > 0 {
			return in.step(limit)
		}
	}
	for len(in.timers) > 0 && in.timers[0].t.owner != nil && in.timers[0].t.owner.closed {
		in.drop(heap.Pop(&in.timers).(*timer).t)
	}
	if len(in.timers) == 0 {
		if in.opts.RealTime && in.fdCount() > 0 && limit >= 0 {
			return in.waitReal(limit)
		}
		return false
	}
	next := in.timers[0]
	if limit >= 0 && next.at > limit {
		if in.opts.RealTime {
			return in.waitReal(limit)
		}
		return false
	}
	if in.opts.RealTime {
		if wait := next.at - in.Elapsed(); wait > 0 {
			if in.pollFDs(wait) > 0 || next.at > in.Elapsed() {
				return true
			}
		}
	} else if next.at > in.now {
		in.now = next.at
	}
	heap.Pop(&in.timers)
	if !in.run(next.t) {
		return in.step(limit)
	}
	in.steps++
	return true
}

// waitReal lets real time pass until limit or a descriptor.
func (in *Instance) waitReal(limit time.Duration) bool {
	wait := limit - in.Elapsed()
	if wait <= 0 {
		return false
	}
	in.pollFDs(wait)
	return true
}

// run does one task; false where it was held back or nothing was left of it.
func (in *Instance) run(t task) bool {
	if t.owner != nil {
		if t.owner.closed {
			in.drop(t)
			return false
		}
		h := t.owner
		if t.stashed {
			if h.unstashed = false; h.holds() || len(h.stash) == 0 {
				return false
			}
			t = h.stash[0]
			h.stash = h.stash[1:]
			h.unstash()
		} else if h.paused || (h.waiting > 0 || len(h.stash) > 0) && !in.forWaiter(t) {
			h.stash = append(h.stash, t)
			return false
		}
		if t.msg != nil && h.waiting == 0 {
			if h.callDue(); h.closed {
				in.drop(t)
				return false
			}
		}
	}
	switch {
	case t.msg != nil:
		in.deliver(t.owner, t.msg)
	case t.fut != nil:
		t.fut.continuation()
	default:
		t.fn()
	}
	if t.owner != nil && t.owner.reactor.stopped && t.owner.module != nil && t.owner.waiting == 0 {
		t.owner.module.exited()
	}
	return true
}

// drop forgets a task whose owner is gone.
func (in *Instance) drop(t task) {
	if t.msg != nil {
		in.undeliverable(t.owner, t.msg)
	}
}

// forWaiter tells whether a handle that blocks in flux_future_wait_for(3)
// takes the task all the same: a response to an RPC of its own. Its timers,
// requests and continuations wait, as on a real one.
func (in *Instance) forWaiter(t task) bool {
	return t.owner.waiting > 0 && t.msg != nil && t.msg.kind == msgResponse
}

// Run makes steps until until is true, or limit of virtual time has passed,
// or nothing is left to do. It gives what until gives at the end. A nil until
// runs to the limit.
func (in *Instance) Run(until func() bool, limit time.Duration) bool {
	end := in.Elapsed() + limit
	for {
		if until != nil && until() {
			return true
		}
		if !in.step(end) {
			if until == nil && !in.opts.RealTime && in.now < end {
				in.now = end
			}
			return until != nil && until()
		}
	}
}

// Advance runs for d of virtual time and leaves the clock there.
func (in *Instance) Advance(d time.Duration) { in.Run(nil, d) }

// Settle makes steps until nothing is left that can be done without time
// passing.
func (in *Instance) Settle() {
	for in.loop.pending > 0 || in.pollFDs(0) > 0 {
		in.step(in.Elapsed())
	}
}
