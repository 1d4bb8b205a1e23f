// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"time"

	"flux-burrow/module/sched/policy"
)

// commit writes the R of jobs that were booked, then reports them (RFC 27: R
// is in the KVS before the response).
func (e *Engine) commit(started []policy.Started, now float64) {
	if len(started) == 0 {
		return
	}
	for _, s := range started {
		e.queue.Remove(s.Job.ID)
		a := e.asks[s.Job.ID]
		a.alloc, a.around = s.Alloc, s.Around
	}
	e.committing = true
	e.withoutStale(started, func(started []policy.Started) {
		if len(started) == 0 {
			e.committing = false
			e.kick()
			return
		}
		e.write(started, now)
	})
}

func (e *Engine) write(started []policy.Started, now float64) {
	texts := make([]string, len(started))
	summaries := make([]string, len(started))
	entries := make([]Entry, len(started))
	for i, s := range started {
		var err error
		if texts[i], summaries[i], err = e.scribe.write(e.pool, s.Alloc, now); err != nil {
			e.log(Warning, "%s: R has no scheduling key: %s", s.Job.ID, err)
		}
		entries[i] = Entry{s.Job.ID.Key("R"), texts[i]}
	}
	begin := time.Now()
	e.host.Commit(entries, func(err error) {
		if e.phase == Stopped {
			return
		}
		e.committing = false
		e.stats.committed(time.Since(begin), err)
		if err != nil {
			e.undo(started, err)
			return
		}
		for i, s := range started {
			e.succeed(s, texts[i], summaries[i])
		}
		if e.wanted || e.queue.Len() > 0 {
			e.kick()
		}
	})
}

func (e *Engine) succeed(s policy.Started, r, summary string) {
	a := e.asks[s.Job.ID]
	if a == nil {
		return
	}
	b := newPayload(s.Job.ID, allocSuccess)
	b.raw("R", r)
	b.raw("annotations", a.finalNotes(summary))
	e.respond(a.request, b.done())
	e.stats.count.Success++
	e.log(Debug, "%s: %s", s.Job.ID, summary)
	e.forget(s.Job.ID)
}

// undo takes back what a failed transaction was to give, and tries again a
// little later. Should the transaction have been made all the same, the next R
// of the job takes the place of this one: nobody was told of it.
func (e *Engine) undo(started []policy.Started, err error) {
	e.log(Err, "could not write the R of %d jobs: %s: trying again", len(started), err)
	for _, s := range started {
		e.pool.Free(s.Job.ID)
		if a := e.asks[s.Job.ID]; a != nil {
			a.alloc, a.around = nil, nil
			e.queue.Add(s.Job)
		}
	}
	e.plan.Loosen()
	e.retry = true
	e.host.After(retryAfter, func() {
		e.retry = false
		e.kick()
	})
}
