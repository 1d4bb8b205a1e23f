// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"math"
	"strconv"

	"flux-burrow/module/sched/policy"
)

// annotate tells jobs that wait the reason and, where it is known, the time at
// which they start at the latest (RFC 27: sched.reason_pending,
// sched.t_estimate), if that is news. Only the first are told: each annotation
// is an event of the job manager's journal.
func (e *Engine) annotate(waiting []policy.Waiting, now float64) {
	for i, w := range waiting {
		if i == policy.MaxReasons {
			break
		}
		a := e.asks[w.Job.ID]
		if a == nil || a.alloc != nil {
			continue
		}
		at := w.Estimate
		if at > 0 {
			at = math.Max(at, now)
		}
		notes := notes{}
		if w.Reason != a.reason {
			a.reason = w.Reason
			a.note(&notes, "reason_pending", quote(w.Reason))
		}
		if (at == 0) != (a.at == 0) || math.Abs(at-a.at) > 1 {
			a.at = at
			value := "null"
			if at > 0 {
				value = strconv.FormatFloat(at, 'f', -1, 64)
			}
			a.note(&notes, "t_estimate", value)
		}
		if notes.empty() {
			continue
		}
		b := newPayload(w.Job.ID, allocAnnotate)
		b.raw("annotations", notes.done())
		e.respond(a.request, b.done())
		e.stats.count.Annotate++
	}
}

func (a *ask) note(n *notes, key, value string) {
	n.add(key, value)
	if value != "null" {
		a.noted[key] = true
	}
}

// finalNotes are the annotations of a job that starts: those that were for the
// wait go away.
func (a *ask) finalNotes(summary string) string {
	n := notes{}
	for _, key := range []string{"reason_pending", "t_estimate"} {
		if a.noted[key] {
			n.add(key, "null")
		}
	}
	if a.around != nil {
		n.add("backfill", quote(a.around.ID.String()))
	}
	n.add("resource_summary", quote(summary))
	return n.done()
}

// notes builds the annotations below "sched".
type notes struct{ b []byte }

func (n *notes) add(key, value string) {
	if n.b != nil {
		n.b = append(n.b, ',')
	}
	n.b = append(n.b, '"')
	n.b = append(n.b, key...)
	n.b = append(n.b, `":`...)
	n.b = append(n.b, value...)
}

func (n *notes) empty() bool { return n.b == nil }

func (n *notes) done() string { return `{"sched":{` + string(n.b) + `}}` }
