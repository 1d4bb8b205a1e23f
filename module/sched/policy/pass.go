// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// Pass is one look at the queue. Neither the queue nor the pool may be changed
// by others until it is over. Jobs that it started or denied are still in the
// queue then: what becomes of them is the caller's to do.
type Pass struct {
	Result
	plan  *Plan
	opt   Options
	queue *queue.Queue
	jobs  []*queue.Job
	at    int
	fresh bool // of jobs that came since the last pass only
	begun uint64
	state *queueState // of the job before
	name  string
}

// Begin starts a pass over the queue; over the jobs in fresh alone, in any
// order, where these are all that is new since the last.
func (p *Plan) Begin(q *queue.Queue, fresh []*queue.Job, opt Options) *Pass {
	ps := &Pass{plan: p, opt: opt, queue: q, jobs: q.Jobs(), fresh: p.passed == p.version}
	p.built, p.windows, p.rules, p.expiration, p.spent = false, nil, opt.Rules, opt.Expiration, 0
	if ps.fresh {
		ps.jobs = sorted(fresh)
	} else {
		p.queues, p.wake = map[string]*queueState{}, 0
		if len(p.list) > 0 || len(p.blocks) > 0 {
			p.build(opt.Now, q)
		}
	}
	ps.begun = p.version
	return ps
}

// Step goes on until the pass is over, or stop says so: then it returns false
// and wants to be called again.
func (ps *Pass) Step(stop func() bool) bool {
	for n := 0; ps.at < len(ps.jobs); n++ {
		if n%64 == 63 && stop() {
			return false
		}
		job := ps.jobs[ps.at]
		ps.at++
		if ps.passOver(job) {
			continue
		}
		if len(ps.Started) == maxStarts || ps.fresh && ps.plan.version != ps.begun {
			// Those that lost their reservations to a new job come before the
			// rest of the new ones.
			ps.More = true
			break
		}
		ps.look(job)
		if stop() && ps.at < len(ps.jobs) {
			return false
		}
	}
	ps.end()
	return true
}

func (ps *Pass) end() {
	p := ps.plan
	switch {
	case ps.More || p.version == ps.begun:
	case p.rounds < maxRounds:
		p.rounds++
		ps.More = true
	}
	p.passed = p.version
	if ps.More { // jobs that this pass did not come to are not new to the next
		p.passed = 0
	}
}

func (ps *Pass) stateOf(name string) *queueState {
	if ps.state != nil && ps.name == name {
		return ps.state
	}
	p := ps.plan
	q := p.queues[name]
	if q == nil {
		q = &queueState{rule: ps.opt.Rule(name)}
		p.queues[name] = q
	}
	ps.state, ps.name = q, name
	return q
}

// passOver tells, at little cost, that there is nothing to do for a job: others
// of its shape did not fit, or its queue is blocked.
func (ps *Pass) passOver(job *queue.Job) bool {
	if job.Reserved {
		return false
	}
	if job.Priority == queue.Held {
		return true
	}
	q := ps.stateOf(job.Request.Queue)
	if !job.Sound(ps.plan.pool) { // to be denied, perhaps, wherever it waits
		return false
	}
	if q.blocks(job) {
		return true
	}
	first := q.rule.Kind == FIFO && q.first == nil // it may be this one that blocks the others
	return job.Failed == ps.plan.version && !ps.due(q, job) && !first
}

// due tells whether a job that does not fit gets a reservation.
func (ps *Pass) due(q *queueState, job *queue.Job) bool {
	p := ps.plan
	if len(p.list) >= maxPlans || p.hopeless[job.ID] {
		return false
	}
	if !ps.fresh || q.rule.Depth == DepthAll {
		return q.have < q.rule.Depth
	}
	n := 0
	for _, r := range p.list {
		if r.Job.Request.Queue == job.Request.Queue && queue.Before(r.Job, job) {
			n++
		}
	}
	return n < q.rule.Depth
}

func (ps *Pass) look(job *queue.Job) {
	p := ps.plan
	sc, fault := job.Check(p.pool, ps.opt.Rules)
	if fault != nil {
		ps.release(job)
		ps.Denied = append(ps.Denied, Denied{job, fault})
		return
	}
	q := ps.stateOf(job.Request.Queue)
	sp, within, ok := p.span(job, sc.Within, ps.opt.Now)
	sc.Within = within
	if job.Priority == queue.Held || !ok || job.Parked(p.pool) || q.blocks(job) {
		ps.release(job)
		if job.Priority != queue.Held {
			job.Failed = p.version
		}
		return
	}
	if job.Reserved {
		if q.have < q.rule.Depth {
			q.have++
			ps.again(job, q, sc, sp)
			return
		}
		ps.release(job)
	}
	if job.Failed != p.version {
		if ps.now(job, q, sc, sp) {
			return
		}
		job.Failed = p.version
	}
	if ps.due(q, job) {
		if !ps.mayPlan() {
			ps.More = true
		} else if ps.reserve(job, q, sc, sp) {
			return
		}
	}
	if !p.hopeless[job.ID] && (q.first == nil || queue.Before(job, q.first)) {
		q.first = job
	}
}

// release drops the reservation that a job has.
func (ps *Pass) release(job *queue.Job) {
	if r := ps.plan.of[job.ID]; r != nil {
		ps.plan.build(ps.opt.Now, ps.queue)
		if ps.plan.of[job.ID] == r { // the build may have dropped it
			ps.plan.remove(r)
		}
	}
}

// now starts a job if it fits beside all reservations.
func (ps *Pass) now(job *queue.Job, q *queueState, sc resource.Scope, sp span) bool {
	p := ps.plan
	now := ps.opt.Now
	if !p.pool.Could(job.Request, sc) || !sp.allows(now) {
		return false
	}
	state := p.pool.State
	if len(p.list) > 0 || len(p.blocks) > 0 {
		p.build(now, ps.queue)
		state = p.until(sp.end(now), sp.inside)
	}
	if !state.Could(job.Request, sc) {
		return false
	}
	pick, ok := state.Find(job.Request, ps.opt.Order, sc)
	return ok && ps.start(job, q, pick, sp)
}

func (ps *Pass) start(job *queue.Job, q *queueState, pick *resource.Pick, sp span) bool {
	p := ps.plan
	end := sp.end(ps.opt.Now)
	if sp.duration == 0 && !sp.known {
		end = 0
	}
	alloc, err := p.pool.Book(job.ID, pick, end)
	if err != nil { // it has resources already, which the job manager does not know of
		return false
	}
	around := q.first
	if around != nil && queue.Before(job, around) {
		around = nil
	}
	ps.Started = append(ps.Started, Started{job, alloc, around})
	p.started(alloc, ps.opt.Now)
	return true
}

// again looks whether a job that has a reservation can have an earlier one, and
// starts it if that is now.
func (ps *Pass) again(job *queue.Job, q *queueState, sc resource.Scope, sp span) {
	p := ps.plan
	r := p.of[job.ID]
	now := ps.opt.Now
	if q.first == nil || queue.Before(job, q.first) {
		defer func() {
			if p.pool.Alloc(job.ID) == nil {
				q.first = job
			}
		}()
	}
	if r.Start > now {
		if r.checked == p.version {
			return
		}
		// An earlier place can wait for the next pass, but not a start.
		if !ps.mayPlan() && !p.pool.Could(job.Request, sc) {
			ps.More = true
			return
		}
	}
	p.build(now, ps.queue)
	if p.of[job.ID] != r { // the build has dropped it
		q.have--
		if ps.due(q, job) {
			ps.reserve(job, q, sc, sp)
		}
		return
	}
	done := p.spend(ps.opt.Clock)
	defer done()
	p.put(r, 1)
	t, ok := p.search.first(job.Request, sc, p.up, sp, now)
	if ok && t < r.Start || ok && t <= now {
		pick, scratch, found := p.search.place(job.Request, sc, sp, ps.opt.Order, t, p.scratch)
		p.scratch = scratch
		if found && t <= now && ps.start(job, q, pick, sp) {
			q.have--
			p.unlist(r)
			return
		}
		if found && t > now {
			r.Start, r.End, r.Pick = t, sp.end(t), pick
			p.version++
		}
	}
	if r.Start <= now && ps.start(job, q, r.Pick, sp) { // late: it ends after r.End
		q.have--
		p.unlist(r)
		return
	}
	p.put(r, -1)
	p.wakeAt(now, r.Start)
	r.checked = p.version
	p.changed()
}

// reserve gives a job the earliest place that those before it leave. It returns
// true if that is now, and the job has started.
func (ps *Pass) reserve(job *queue.Job, q *queueState, sc resource.Scope, sp span) bool {
	p := ps.plan
	now := ps.opt.Now
	p.build(now, ps.queue)
	done := p.spend(ps.opt.Clock)
	defer done()
	p.dropBehind(job)
	t, ok := p.search.first(job.Request, sc, p.up, sp, now)
	if !ok {
		if p.hopeless == nil {
			p.hopeless = map[jobID]bool{}
		}
		p.hopeless[job.ID] = true
		return false
	}
	pick, scratch, found := p.search.place(job.Request, sc, sp, ps.opt.Order, t, p.scratch)
	p.scratch = scratch
	if !found {
		return false
	}
	if t <= now {
		return ps.start(job, q, pick, sp)
	}
	r := &Reservation{Job: job, Start: t, End: sp.end(t), Pick: pick}
	p.put(r, -1)
	p.reserve(r)
	r.checked = p.version
	q.have++
	return false
}

// mayPlan tells whether there is time left for more than a few reservations.
func (ps *Pass) mayPlan() bool {
	return ps.plan.spent < planLimit || len(ps.plan.list) < fewPlans
}
