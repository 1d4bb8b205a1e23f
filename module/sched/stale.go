// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"

	"flux-burrow/module/sched/policy"
)

// R is written before the job manager hears of an allocation. Where the broker
// is killed in between, the job waits again after the restart, and the job
// manager has that R in memory. It then takes no other: an answer with one is
// an error that ends its talk with the scheduler, and nothing is scheduled any
// more (alloc.c, alloc_response_cb; flux-core issue 6059). So a job that is
// older than this scheduler is asked about before it is given anything.

var errStale = errors.New("resources were given to it just before a restart that forgot of it: submit it again")

// withoutStale denies jobs of which the job manager has an R already, and
// gives the others to then. They are booked meanwhile.
func (e *Engine) withoutStale(started []policy.Started, then func([]policy.Started)) {
	stale := make([]bool, len(started))
	open := 1
	done := func() {
		if open--; open > 0 {
			return
		}
		good := make([]policy.Started, 0, len(started))
		for i, s := range started {
			if !stale[i] {
				good = append(good, s)
				continue
			}
			e.log(Warning, "%s: %s", s.Job.ID, errStale)
			e.pool.Free(s.Job.ID)
			e.plan.Loosen()
			e.deny(s.Job.ID, e.asks[s.Job.ID].request, errStale)
			e.forget(s.Job.ID)
		}
		then(good)
	}
	for i, s := range started {
		a := e.asks[s.Job.ID]
		if a.sound || s.Job.TSubmit > e.born {
			continue
		}
		open++
		e.host.Call("job-manager.getattr", `{"id":`+s.Job.ID.Decimal()+`,"attrs":["R"]}`,
			func(_ string, err error) {
				if e.phase == Stopped {
					return
				}
				stale[i], a.sound = err == nil, true
				done()
			})
	}
	done()
}
