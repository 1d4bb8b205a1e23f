// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"time"
)

// housekeeping holds a job's resources back after its free event, where
// Options.Housekeeping says so; without it they go to the scheduler at once
// (housekeeping.c). Each rank is freed when its own script ends, the last one
// with final set (recorded/sched-trace-3.jsonl).
type housekeeping struct {
	in     *Instance
	allocs []*hkAlloc
}

type hkAlloc struct {
	j       *job
	pending []int
	freed   []int
}

func (hk *housekeeping) start(j *job) {
	fn := hk.in.opts.Housekeeping
	if fn == nil {
		hk.in.jm.alloc.free(j.id, j.r, true)
		return
	}
	a := &hkAlloc{j: j, pending: ranksOfR(j.r)}
	hk.allocs = append(hk.allocs, a)
	for _, rank := range append([]int(nil), a.pending...) {
		hk.in.after(hk.in.jm.h, fn(j.id, rank), func() { hk.done(a, rank) })
	}
}

func (hk *housekeeping) done(a *hkAlloc, rank int) {
	for i, r := range a.pending {
		if r == rank {
			a.pending = append(a.pending[:i:i], a.pending[i+1:]...)
		}
	}
	a.freed = append(a.freed, rank)
	final := len(a.pending) == 0
	if final {
		for i, o := range hk.allocs {
			if o == a {
				hk.allocs = append(hk.allocs[:i:i], hk.allocs[i+1:]...)
			}
		}
	}
	hk.in.jm.alloc.free(a.j.id, hk.in.partOfR(a.j.r, []int{rank}), final)
}

func (hk *housekeeping) hello(r *Request, partial bool) {
	for _, a := range append([]*hkAlloc(nil), hk.allocs...) {
		if len(a.freed) > 0 && !partial {
			hk.in.log(0, "job-manager", 3, "housekeeping: "+idString(a.j.id)+" will be terminated because scheduler does not support restart with partially released resources")
			continue
		}
		freed := append([]int(nil), a.freed...)
		sortInts(freed)
		r.Respond(helloPayload(a.j, encodeIDs(freed)))
	}
}

func (hk *housekeeping) addTo(s coreSet) {
	for _, a := range hk.allocs {
		s.addR(hk.in.partOfR(a.j.r, a.pending))
	}
}

// HousekeepingFor gives the same time to every rank.
func HousekeepingFor(d time.Duration) func(JobID, int) time.Duration {
	return func(JobID, int) time.Duration { return d }
}
