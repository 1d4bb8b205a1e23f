// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"sort"
	"time"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

type jobID = jobid.ID

// span returns when a job may run, and the nodes that it may have of those
// within; false if it names an advance reservation that it can't use.
func (p *Plan) span(job *queue.Job, within resource.Bits, now float64) (span, resource.Bits, bool) {
	if p.horizon == 0 {
		p.horizon = now + year
	}
	sp := span{duration: job.Request.Duration, until: p.horizon}
	if p.expiration > 0 {
		sp.until, sp.known = p.expiration, true
	}
	name := job.Request.Reservation
	if name == "" {
		return sp, within, true
	}
	b := p.Block(name)
	if b == nil || !b.admits(job.UserID) || max(now, b.Start)+sp.duration > b.End {
		return sp, within, false
	}
	nodes := b.Nodes.Clone()
	if within != nil {
		nodes.And(within)
	}
	sp.inside, sp.from, sp.to, sp.until, sp.known = true, b.Start, b.End, b.End, true
	return sp, nodes, true
}

// spend counts the time until done is called.
func (p *Plan) spend(clock func() time.Duration) (done func()) {
	if clock == nil {
		return func() {}
	}
	begin := clock()
	return func() { p.spent += clock() - begin }
}

func sorted(jobs []*queue.Job) []*queue.Job {
	list := append([]*queue.Job(nil), jobs...)
	sort.Slice(list, func(i, k int) bool { return queue.Before(list[i], list[k]) })
	return list
}
