// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// forecast gives jobs without a reservation an estimate: a plan of all jobs in
// order, on a copy of the profile. It is begun anew when the plan has changed,
// and goes on where it stopped as long as it has not.
type forecast struct {
	version uint64
	search  search
	prof    profile
	at      int
	behind  map[string]float64 // fifo: start of the last job, by queue
	scratch *resource.State
}

// Forecast gives estimates to waiting jobs, the front of the queue first, until
// stop says so. It is called between passes. Each gets the time at which the job
// starts, if running jobs use up their time and no job comes before it; 0 if
// that is not known. It returns true once all have one.
func (p *Plan) Forecast(q *queue.Queue, opt Options, stop func() bool, each func(job *queue.Job, at float64)) bool {
	for _, r := range p.list {
		if p.known(r.Start) {
			each(r.Job, r.Start)
		} else {
			each(r.Job, 0)
		}
	}
	f := &p.forecast
	if f.version != p.version {
		p.built, p.rules, p.expiration = false, opt.Rules, opt.Expiration
		p.build(opt.Now, q)
		f.prof.copyOf(&p.prof)
		f.search.profile = &f.prof
		f.version, f.at, f.behind = p.version, 0, map[string]float64{}
	}
	jobs := q.Jobs()
	ps := &Pass{plan: p, opt: opt, queue: q}
	for ; f.at < len(jobs) && !stop(); f.at++ {
		if job := jobs[f.at]; !job.Reserved {
			each(job, f.estimate(ps, job))
		}
	}
	return f.at >= len(jobs)
}

func (f *forecast) estimate(ps *Pass, job *queue.Job) float64 {
	p := ps.plan
	sc, fault := job.Check(p.pool, ps.opt.Rules)
	sp, within, ok := p.span(job, sc.Within, ps.opt.Now)
	sc.Within = within
	if fault != nil || !ok || job.Priority == queue.Held || job.Parked(p.pool) {
		return 0
	}
	name := job.Request.Queue
	t, ok := f.search.first(job.Request, sc, p.up, sp, f.behind[name])
	if !ok {
		return 0
	}
	pick, scratch, found := f.search.place(job.Request, sc, sp, ps.opt.Order, t, f.scratch)
	f.scratch = scratch
	if !found {
		return 0
	}
	for _, take := range pick.Takes {
		f.prof.add(int(take.Node), t, sp.end(t), step{c: -take.Cores, g: -take.GPUs})
	}
	if ps.opt.Rule(name).Kind == FIFO {
		f.behind[name] = t
	}
	if !p.known(t) {
		return 0
	}
	return t
}

// Why is what a waiting job waits for.
type Why int

// The reasons.
const (
	WhyRoom        Why = iota // that enough becomes free, as others do not delay it
	WhyHeld                   // its priority is 0
	WhyReservation            // the advance reservation is not there, not for its user, or too short
	WhyParked                 // nodes to come up
	WhyBehind                 // the job before it in its queue (fifo)
)

// Why tells what a job waited for in the last pass. For WhyBehind it returns the
// job that is first.
func (p *Plan) Why(job *queue.Job) (Why, *queue.Job) {
	if job.Priority == queue.Held {
		return WhyHeld, nil
	}
	if _, _, ok := p.span(job, nil, p.prof.now); !ok {
		return WhyReservation, nil
	}
	if _, fault := job.Check(p.pool, p.rules); fault == nil && job.Parked(p.pool) {
		return WhyParked, nil
	}
	if q := p.queues[job.Request.Queue]; q != nil && q.blocks(job) {
		return WhyBehind, q.first
	}
	return WhyRoom, nil
}
