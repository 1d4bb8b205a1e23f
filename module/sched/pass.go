// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"time"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
)

// Times of passes.
const (
	retryAfter    = time.Second          // after a transaction that failed
	forecastEvery = 1.0                  // seconds between two rounds of annotations
	turnLimit     = 4 * time.Millisecond // of one turn of the reactor
	wakeLimit     = time.Minute          // of a wait
)

// kick asks for a pass. Requests that come in one turn of the reactor are
// served by one pass, and those that come while a transaction is on its way by
// the pass after it: under load transactions grow instead of queueing up.
func (e *Engine) kick() {
	if e.phase != Ready {
		return
	}
	if e.committing || e.retry || e.passing != nil {
		e.wanted = true
		return
	}
	if e.timer != nil || e.queue.Len() == 0 {
		return
	}
	e.timer = e.host.After(0, e.pass)
}

// loosen asks for a pass over the whole queue: something is free, up or wanted
// that was not before.
func (e *Engine) loosen() {
	if e.plan != nil {
		e.plan.Loosen()
	}
	e.kick()
}

// later keeps what came while a pass is made for when it is over: the pass
// goes by one state of the queue and the pool. False: do it now.
func (e *Engine) later(f func()) bool {
	if e.passing == nil && len(e.inbox) == 0 {
		return false
	}
	e.inbox = append(e.inbox, f)
	return true
}

// options are what passes go by.
func (e *Engine) options(now float64) policy.Options {
	begin := time.Now()
	return policy.Options{
		Rule: func(queue string) policy.Rule {
			return policy.Rule{Kind: e.config.PolicyOf(queue), Depth: e.config.DepthOf(queue)}
		},
		Rules: exclusive{e}, Order: e.config.Match, Now: now, Expiration: e.expiration,
		Clock: func() time.Duration { return time.Since(begin) },
	}
}

// turn returns a function that says when this turn has lasted long enough.
func turn(limit time.Duration) func() bool {
	begin := time.Now()
	return func() bool { return time.Since(begin) > limit }
}

// pass starts what the policy lets start. The R of all jobs that it starts go
// to the KVS in one transaction; each job is reported when that is done. A long
// pass takes several turns.
func (e *Engine) pass() {
	stopTimer(&e.timer)
	if e.phase != Ready {
		return
	}
	begin := time.Now()
	if e.passing == nil {
		e.wanted = false
		e.passing = e.plan.Begin(&e.queue, e.fresh, e.options(e.host.Now()))
		e.fresh = nil
	}
	over := e.passing.Step(turn(turnLimit))
	e.stats.turn.add(time.Since(begin))
	if !over {
		e.timer = e.host.After(0, e.pass)
		return
	}
	e.passed()
}

// passed does what a pass has found, then what came meanwhile.
func (e *Engine) passed() {
	res := e.passing.Result
	e.passing = nil
	now := e.host.Now()
	for _, d := range res.Denied {
		if a := e.asks[d.Job.ID]; a != nil {
			e.deny(d.Job.ID, a.request, d.Reason)
			e.forget(d.Job.ID)
		}
	}
	e.commit(res.Started, now)
	e.stats.passed(len(res.Started))
	e.armWake(now)
	e.foretellSoon(now)
	if e.wanted = e.wanted || res.More; e.wanted {
		e.kick()
	}
	e.takeInbox()
}

// finishPass ends a pass that is under way, in this turn: something that can't
// wait is about to change.
func (e *Engine) finishPass() {
	if e.passing == nil {
		return
	}
	begin := time.Now()
	for !e.passing.Step(func() bool { return false }) {
	}
	e.stats.turn.add(time.Since(begin))
	e.passed()
}

// takeInbox does what came while a pass was made, in order.
func (e *Engine) takeInbox() {
	stop := turn(turnLimit)
	for len(e.inbox) > 0 && e.phase != Stopped {
		if stop() {
			if e.inboxTimer == nil {
				e.inboxTimer = e.host.After(0, func() { stopTimer(&e.inboxTimer); e.takeInbox() })
			}
			return
		}
		if e.passing != nil {
			return // the end of that pass goes on
		}
		f := e.inbox[0]
		e.inbox[0] = nil
		e.inbox = e.inbox[1:]
		f()
	}
}

// armWake has a pass made when something begins or ends by itself.
func (e *Engine) armWake(now float64) {
	stopTimer(&e.wake)
	if at := e.plan.Wake(); at > now && e.queue.Len() > 0 {
		e.wakeAt(now, at)
	}
}

// wakeAt has a pass made at a time.
func (e *Engine) wakeAt(now, at float64) {
	wait := wakeLimit // the clock may be set meanwhile
	if left := at - now; left < wakeLimit.Seconds() {
		wait = time.Duration(left * float64(time.Second))
	}
	e.wake = e.host.After(wait, func() {
		stopTimer(&e.wake)
		if now := e.host.Now(); now < at {
			e.wakeAt(min(now, at-0.001), at) // a timer may come a little early
			return
		}
		if !e.later(e.loosen) {
			e.loosen()
		}
	})
}

// foretellSoon asks for a round of annotations, unless one is to come.
func (e *Engine) foretellSoon(now float64) {
	e.quiet = false
	if e.queue.Len() > 0 && e.slow == nil {
		wait := min(max(0, e.forecastAt+forecastEvery-now), forecastEvery)
		e.slow = e.host.After(time.Duration(wait*float64(time.Second)), e.foretell)
	}
}

// foretell makes a round of estimates and annotations.
func (e *Engine) foretell() {
	stopTimer(&e.slow)
	if e.phase != Ready {
		return
	}
	now := e.host.Now()
	if e.passing == nil {
		e.forecastAt = now
		if e.annotate(now) {
			return // the next pass asks for a round again
		}
	}
	if e.queue.Len() > 0 {
		e.slow = e.host.After(time.Duration(forecastEvery*float64(time.Second)), e.foretell)
	}
}

// exclusive is the configuration's node-exclusive as sets of nodes.
type exclusive struct{ e *Engine }

// Whole implements queue.Rules.
func (x exclusive) Whole(queue string) (all bool, nodes resource.Bits) {
	rule := x.e.config.ExclusiveOf(queue)
	for _, name := range rule.Properties {
		if set := x.e.pool.Property(name); set != nil {
			if nodes == nil {
				nodes = resource.NewBits(x.e.pool.Len())
			}
			nodes.Or(set)
		}
	}
	return rule.All, nodes
}

func stopTimer(t *Timer) {
	if *t != nil {
		(*t).Stop()
		*t = nil
	}
}
