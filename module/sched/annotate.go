// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/queue"
)

// Limits of one round of annotations: each one is an event of the job manager's
// journal.
const (
	forecastTurn = 4 * time.Millisecond // of CPU, for estimates
	maxLooked    = 2048                 // jobs
	maxNotes     = 256                  // annotations
	frontJobs    = 16                   // jobs whose reason is kept up to the moment
)

// annotations are what a job that waits was told (RFC 27: sched.reason_pending,
// sched.t_estimate).
type annotations struct {
	reason   string
	why      policy.Why
	told     bool    // reason and why are set
	estimate float64 // as the plan has it, seconds since 1970; 0: not known
	at       float64 // as last annotated
}

// annotate tells jobs that wait the reason and, where it is known, when they
// start at the latest, if that is news. All are told why in turn; for the front
// of the queue the words follow what changes, for the rest the kind of reason.
// It returns true once the whole queue was looked at and there was no news.
func (e *Engine) annotate(now float64) (over bool) {
	foreseen := e.plan.Forecast(&e.queue, e.options(now), turn(forecastTurn), func(job *queue.Job, at float64) {
		if a := e.asks[job.ID]; a != nil {
			a.notes.estimate = at
		}
	})
	jobs := e.queue.Jobs()
	notes, parked := 0, false
	if e.noteAt >= len(jobs) {
		e.noteAt, e.quiet = 0, true
	}
	look := func(i int) {
		a := e.asks[jobs[i].ID]
		if a == nil || a.alloc != nil {
			return
		}
		why, first := e.plan.Why(a.job)
		parked = parked || why == policy.WhyParked
		n := notesOf{}
		if !a.notes.told || a.notes.why != why || i < frontJobs {
			if reason := e.reason(a.job, why, first); !a.notes.told || reason != a.notes.reason {
				a.notes.reason = reason
				n.add("reason_pending", quote(reason))
			}
			a.notes.told, a.notes.why = true, why
		}
		if at, news := a.notes.news(now); news {
			a.notes.at = at
			value := "null"
			if at > 0 {
				value = strconv.FormatFloat(at, 'f', -1, 64)
			}
			n.add("t_estimate", value)
		}
		if n.empty() {
			return
		}
		notes++
		b := newPayload(a.job.ID, allocAnnotate)
		b.raw("annotations", n.done())
		e.respond(a.request, b.done())
		e.stats.count.Annotate++
	}
	for i := 0; i < min(frontJobs, len(jobs)); i++ {
		look(i)
	}
	stop := turn(forecastTurn)
	for n := 0; n < maxLooked && e.noteAt < len(jobs) && notes < maxNotes && !stop(); n++ {
		if e.noteAt >= frontJobs {
			look(e.noteAt)
		}
		e.noteAt++
	}
	if parked {
		e.askDrained()
	}
	e.quiet = e.quiet && notes == 0 && foreseen
	return e.quiet && e.noteAt >= len(jobs)
}

// news tells whether there is an estimate to be told: one that is not as told
// by more than a tenth of the time that is left, and never one in the past.
func (a *annotations) news(now float64) (at float64, news bool) {
	at = a.estimate
	if at > 0 {
		at = math.Max(at, now)
	}
	if (at == 0) != (a.at == 0) {
		return at, true
	}
	return at, at > 0 && (a.at < now || math.Abs(at-a.at) > math.Max(1, (a.at-now)/10))
}

// reason says in words what a job waits for.
func (e *Engine) reason(job *queue.Job, why policy.Why, first *queue.Job) string {
	switch why {
	case policy.WhyHeld:
		return "is held: its priority is 0"
	case policy.WhyReservation:
		return fmt.Sprintf("waits for the advance reservation %s, which is not there, not for its user, or too short for its limit", job.Request.Reservation)
	case policy.WhyBehind:
		return fmt.Sprintf("waits for %s, which is before it in its queue", first.ID)
	}
	sc, _ := job.Check(e.pool, exclusive{e})
	if why == policy.WhyParked {
		return e.parkedReason(job, sc)
	}
	return e.pool.Lack(job.Request, sc)
}

// finalNotes are the annotations of a job that starts: those that were for the
// wait go away.
func (a *ask) finalNotes(summary string) string {
	n := notesOf{}
	if a.notes.told {
		n.add("reason_pending", "null")
	}
	if a.notes.at > 0 {
		n.add("t_estimate", "null")
	}
	if a.around != nil {
		n.add("backfill", quote(a.around.ID.String()))
	}
	n.add("resource_summary", quote(summary))
	return n.done()
}

// notesOf builds the annotations below "sched".
type notesOf struct{ b []byte }

func (n *notesOf) add(key, value string) {
	if n.b != nil {
		n.b = append(n.b, ',')
	}
	n.b = append(n.b, '"')
	n.b = append(n.b, key...)
	n.b = append(n.b, `":`...)
	n.b = append(n.b, value...)
}

func (n *notesOf) empty() bool { return n.b == nil }

func (n *notesOf) done() string { return `{"sched":{` + string(n.b) + `}}` }
