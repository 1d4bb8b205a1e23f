// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"math"
	"sort"

	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// overdue is how long from now a job is taken to last that has reached its
// expiration and is still there.
const overdue = 1.0

// maxTries is how many points of time are looked at in one pass, for all jobs
// together. It bounds what a pass takes to some tens of milliseconds.
const maxTries = 100_000

// plan is what is known of the future: when running jobs end, and which nodes
// are reserved from when to when.
type plan struct {
	pass     *pass
	ends     []ending
	known    bool // ends is up to date
	reserved []reservation
	tries    int
	spent    bool // there were more points of time than maxTries

	// The nodes that are reserved in some stretch of time, as last worked out.
	active [maxPlans]bool
	nodes  resource.Bits
	valid  bool
}

type ending struct {
	at    float64
	alloc *resource.Alloc
}

type reservation struct {
	start, end float64
	nodes      resource.Bits
}

func (p *plan) stale() { p.known = false }

func (p *plan) reserve(start, end float64, nodes resource.Bits) {
	p.reserved = append(p.reserved, reservation{start, end, nodes})
	p.valid = false
}

// taken returns the nodes that a job which runs from start to end must leave
// alone; nil if there are none. The result holds until the next call.
func (p *plan) taken(start, end float64, closed resource.Bits) resource.Bits {
	if closed == nil && len(p.reserved) == 0 {
		return nil
	}
	same := p.valid
	for i := range p.reserved {
		r := &p.reserved[i]
		on := r.start < end && r.end > start
		same = same && p.active[i] == on
		p.active[i] = on
	}
	if same {
		return p.nodes
	}
	p.valid = true
	p.nodes = resource.NewBits(p.pass.pool.Len())
	if closed != nil {
		p.nodes.Or(closed)
	}
	for i := range p.reserved {
		if p.active[i] {
			p.nodes.Or(p.reserved[i].nodes)
		}
	}
	return p.nodes
}

// load lists the ends of running jobs in order of time.
func (p *plan) load() {
	if p.known {
		return
	}
	p.ends, p.known = p.ends[:0], true
	for _, a := range p.pass.pool.Allocs() {
		if a.Expiration > 0 {
			p.ends = append(p.ends, ending{math.Max(a.Expiration, p.pass.Now+overdue), a})
		}
	}
	sort.SliceStable(p.ends, func(i, j int) bool { return p.ends[i].at < p.ends[j].at })
}

// earliest returns the first time at which a job fits, if the running jobs last
// until their expirations, and the nodes that it would have; nil if there is no
// such time.
func (p *plan) earliest(job *queue.Job, within resource.Bits) (float64, resource.Bits) {
	p.load()
	sim := p.pass.pool.State.Clone()
	next := 0
	for _, t := range p.times() {
		if p.tries++; p.tries > maxTries {
			p.spent = true
			break
		}
		for next < len(p.ends) && p.ends[next].at <= t {
			sim.Release(p.ends[next].alloc)
			next++
		}
		scope := resource.Scope{Within: within, Without: p.taken(t, p.pass.end(job, t), p.pass.closed)}
		if !sim.Could(job.Request, scope) {
			continue
		}
		if pick, ok := sim.Find(job.Request, p.pass.Order, scope); ok {
			return t, pick.Nodes(sim.Len())
		}
	}
	return 0, nil
}

// times returns the points of time at which anything becomes free, in order.
// Now is one of them: a job that starts later may fit before a reservation.
func (p *plan) times() []float64 {
	times := []float64{p.pass.Now}
	for i := range p.ends {
		times = append(times, p.ends[i].at)
	}
	for i := range p.reserved {
		if r := &p.reserved[i]; !math.IsInf(r.end, 1) {
			times = append(times, r.end)
		}
	}
	sort.Float64s(times)
	kept := times[:1]
	for _, t := range times[1:] {
		if t > kept[len(kept)-1] {
			kept = append(kept, t)
		}
	}
	return kept
}
