// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"math"

	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// pass is the state of one look at the queue.
type pass struct {
	Options
	pool *resource.Pool
	out  Result

	blocked map[string]*queue.Job // by queue, the first job that does not fit
	closed  resource.Bits         // nodes that later jobs must leave alone
	shut    bool                  // closed is every node
	plan    plan
	depth   map[string]int // reservations by queue
}

// Pass looks at the jobs in order and books those that may start now in the
// pool. Jobs that it started or denied are still in the queue: what becomes of
// them is the caller's to do.
func Pass(pool *resource.Pool, jobs []*queue.Job, opt Options) Result {
	p := &pass{Options: opt, pool: pool, blocked: map[string]*queue.Job{}, depth: map[string]int{}}
	p.plan.pass = p
	looks := 0
	for _, job := range jobs {
		if job.Priority == queue.Held || p.Kind == FIFO && p.blocked[job.Request.Queue] != nil {
			continue
		}
		if p.shut || p.plan.spent {
			break
		}
		if looks++; looks > maxLooks {
			break
		}
		if len(p.out.Started) == maxStarts {
			p.out.More = true
			break
		}
		p.look(job)
	}
	return p.out
}

func (p *pass) look(job *queue.Job) {
	within, fault := job.Check(p.pool)
	if fault != nil {
		p.out.Denied = append(p.out.Denied, Denied{job, fault})
		return
	}
	end := p.end(job, p.Now)
	scope := resource.Scope{Within: within, Without: p.plan.taken(p.Now, end, p.closed)}
	if pick, ok := p.find(job, scope); ok {
		expiration := end
		if math.IsInf(end, 1) {
			expiration = 0
		}
		alloc, err := p.pool.Book(job.ID, pick, expiration)
		if err != nil {
			p.out.Waiting = append(p.out.Waiting, Waiting{Job: job, Reason: err.Error()})
			return
		}
		p.out.Started = append(p.out.Started, Started{job, alloc, p.blocked[job.Request.Queue]})
		p.plan.stale()
		return
	}
	p.wait(job, within)
}

func (p *pass) find(job *queue.Job, scope resource.Scope) (*resource.Pick, bool) {
	if !p.pool.Could(job.Request, scope) {
		return nil, false
	}
	return p.pool.Find(job.Request, p.Order, scope)
}

// end returns when a job that starts at a time ends at the latest.
func (p *pass) end(job *queue.Job, start float64) float64 {
	switch {
	case job.Request.Duration > 0:
		return start + job.Request.Duration
	case p.Expiration > 0:
		return math.Max(p.Expiration, start)
	}
	return math.Inf(1)
}

// wait does what the policy has for a job that does not fit.
func (p *pass) wait(job *queue.Job, within resource.Bits) {
	name := job.Request.Queue
	w := Waiting{Job: job}
	if p.Forecast && len(p.out.Waiting) < MaxReasons {
		w.Reason = p.pool.Lack(job.Request, within)
	}
	first := p.blocked[name] == nil
	if first {
		p.blocked[name] = job
	}
	switch {
	case p.Kind == FIFO:
		if p.Forecast {
			w.Estimate, _ = p.plan.earliest(job, within)
		}
		p.close(within)
	case p.depth[name] < depths[p.Kind] && len(p.plan.reserved) < maxPlans:
		start, nodes := p.plan.earliest(job, within)
		if nodes == nil {
			p.close(within)
			break
		}
		p.depth[name]++
		w.Estimate = start
		p.plan.reserve(start, p.end(job, start), nodes)
	}
	p.out.Waiting = append(p.out.Waiting, w)
}

// close keeps later jobs off the nodes that a job could run on.
func (p *pass) close(within resource.Bits) {
	if within == nil {
		p.shut = true
		return
	}
	if p.closed == nil {
		p.closed = resource.NewBits(p.pool.Len())
	}
	p.closed.Or(within)
	p.plan.valid = false
}
