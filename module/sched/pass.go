// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"time"

	"flux-burrow/module/sched/policy"
)

// Times of passes.
const (
	retryAfter    = time.Second // after a transaction that failed
	forecastEvery = 1.0         // seconds between two rounds of annotations
)

// kick asks for a pass. Requests that come in one turn of the reactor are
// served by one pass, and those that come while a transaction is on its way by
// the pass after it: under load transactions grow instead of queueing up.
func (e *Engine) kick() {
	if e.phase != Ready {
		return
	}
	if e.committing || e.retry {
		e.wanted = true
		return
	}
	if e.timer != nil || e.queue.Len() == 0 {
		return
	}
	e.timer = e.host.After(0, e.pass)
}

// pass starts what the policy lets start. The R of all jobs that it starts go
// to the KVS in one transaction; each job is reported when that is done.
func (e *Engine) pass() {
	stopTimer(&e.timer)
	if e.phase != Ready {
		return
	}
	begin := time.Now()
	now := e.host.Now()
	forecast := now-e.forecastAt >= forecastEvery
	res := policy.Pass(e.pool, e.queue.Jobs(), policy.Options{
		Kind: e.config.Policy, Order: e.config.Match, Now: now,
		Expiration: e.expiration, Forecast: forecast,
	})
	e.wanted = res.More
	for _, d := range res.Denied {
		if a := e.asks[d.Job.ID]; a != nil {
			e.deny(d.Job.ID, a.request, d.Reason)
			e.forget(d.Job.ID)
		}
	}
	e.commit(res.Started, now)
	if forecast {
		e.forecastAt = now
		e.annotate(res.Waiting, now)
	}
	e.stats.passed(time.Since(begin), len(res.Started))
	if e.wanted {
		e.kick()
	}
	if !forecast && len(res.Waiting) > 0 && e.slow == nil {
		wait := e.forecastAt + forecastEvery - now
		e.slow = e.host.After(time.Duration(wait*float64(time.Second)), func() {
			stopTimer(&e.slow)
			e.kick()
		})
	}
}

func stopTimer(t *Timer) {
	if *t != nil {
		(*t).Stop()
		*t = nil
	}
}
