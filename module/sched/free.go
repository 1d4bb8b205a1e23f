// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"math"
	"syscall"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
)

// onFree takes sched.free (RFC 27). The final one frees all that the job still
// holds: what was freed of it while no scheduler was ready is not told again.
// Another one frees the ranks of its R, never by what R says of their cores:
// nothing that is not the job's can be freed.
func (e *Engine) onFree(payload string, _ Request) {
	v := gjson.Parse(payload)
	id, err := field(v, "id")
	if err != nil {
		e.log(Err, "sched.free: %s", err)
		return
	}
	job := jobid.ID(id)
	if e.again != nil {
		e.again.freed[job] = true
	}
	if e.pool == nil || e.pool.Alloc(job) == nil {
		e.stats.count.FreeUnknown++
		e.log(Debug, "sched.free: %s has no resources here", job)
		return
	}
	if v.Get("final").Bool() {
		e.stats.count.FreeFinal++
		nodes, _ := e.pool.Free(job)
		e.log(Debug, "sched.free: %s, the last %d nodes", job, nodes)
		e.loosen()
		return
	}
	e.stats.count.FreePartial++
	r, err := rv1reader.Read([]byte(v.Get("R").Raw))
	if err != nil {
		e.log(Err, "sched.free: %s: R: %s", job, err)
		return
	}
	want := r.Ranks.Count()
	if got := e.pool.FreeRanks(job, r.Ranks); got != want {
		e.log(Debug, "sched.free: %s: rank %s: it holds %d of these %d", job, r.Ranks, got, want)
	}
	e.loosen()
}

func (e *Engine) onExpiration(payload string, r Request) {
	e.stats.count.Expiration++
	v := gjson.Parse(payload)
	id, err := field(v, "id")
	if err != nil {
		e.respondError(r, coded{syscall.EPROTO, "sched.expiration: " + err.Error()})
		return
	}
	at := v.Get("expiration")
	if at.Type != gjson.Number || at.Num < 0 || math.IsInf(at.Num, 0) {
		e.respondError(r, coded{syscall.EINVAL, fmt.Sprintf("sched.expiration: %s is not a time", at.Raw)})
		return
	}
	job := jobid.ID(id)
	if e.pool == nil || e.pool.Alloc(job) == nil {
		e.respondError(r, coded{syscall.ENOENT, fmt.Sprintf("sched.expiration: job %s has no resources", job)})
		return
	}
	e.pool.Alloc(job).Expiration = at.Num
	e.recovery.settled(job)
	e.respond(r, "")
	e.loosen()
}
