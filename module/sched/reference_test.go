// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"math"
	"slices"
	"sort"

	"flux-burrow/hooks/jobid"
)

// reference is a second scheduler, written to be read: it keeps nothing that it
// could work out, knows no bit sets and is as slow as it likes. What the engine
// starts is compared with what this one starts (reference_compare_test.go).
type reference struct {
	nodes   []refNode
	queues  map[string]refQueue
	others  refQueue // queues that are not named
	match   string   // first, last, best, worst
	ends    float64  // when the instance ends; 0 for never
	blocks  []refBlock
	jobs    []*refJob // that wait, run, or were denied; by id
	now     float64
	planned []*refJob // that have a reservation, in the order of that time
	moved   bool      // a reservation moved or was dropped, in this pass
	calm    bool      // none did in the last, and nothing happened since but arrivals
	mistake string    // makes one on purpose; see mistakes
}

type refNode struct {
	room  room // all there is
	up    bool
	gone  bool            // not in the inventory any more
	whole bool            // is given out whole
	props map[string]bool // a, b
}

type room struct{ cores, gpus int }

func (a room) less(b room) room { return room{a.cores - b.cores, a.gpus - b.gpus} }

// refQueue says how many of the jobs of a queue that don't fit get a
// reservation, and whether the first of them keeps the others waiting.
type refQueue struct {
	fifo  bool
	depth int
}

// refBlock is an advance reservation.
type refBlock struct {
	name       string
	nodes      map[int]bool
	start, end float64
	open       bool    // jobs may name it; else it is maintenance
	made       float64 // when it was asked for
}

// refJob asks for nodes with slots on each or, if nodes is 0, for slots
// anywhere; as many as there are up to most, if that is more.
type refJob struct {
	id                              jobid.ID
	priority                        int
	queue, needs, block             string // needs is a property, or one that must not be there (^a)
	nodes, slots, cores, gpus, most int
	whole                           bool
	limit                           float64 // 0 for none

	running, denied bool
	seen            bool         // by a pass
	hopeless        bool         // there is no place for it at any time
	holds           map[int]room // of a job that runs
	fences          map[int]bool
	expiration      float64 // 0 for none
	assumed         float64 // end of one that is past its expiration; 0 for none
	plan            *place  // reservation of a job that waits

	lasts float64 // how long it will run, which no scheduler knows; 0: until an event ends it
	late  bool    // its end is told after all else of that second
}

type place struct {
	start, end float64
	holds      map[int]room
}

const year = 365 * 86400

// lateness is how late a pass may come for a job to have its place still.
const lateness = 1

func (r *reference) broken(mistake string) bool { return r.mistake == mistake }

// stands tells whether a job can still have the place that was reserved for it.
func (r *reference) stands(j *refJob, p *place) bool {
	ok := p.start >= r.now-lateness && r.possible(j) && !r.shutOut(j) && (j.limit > 0 || p.end == r.endAt(j, p.start))
	p.start = max(p.start, r.now)
	for n, h := range p.holds {
		left := r.least(n, p.start, p.end, j)
		ok = ok && r.usable(n, j) && left.cores >= h.cores && left.gpus >= h.gpus
	}
	return ok
}

// keep looks through the reservations of the pass before, in their order. From
// the first on that is out of order by now, or whose place does not hold, they
// are dropped.
func (r *reference) keep() {
	r.planned = slices.DeleteFunc(r.planned, func(j *refJob) bool { return !slices.Contains(r.waiting(), j) })
	old := map[*refJob]*place{}
	for _, j := range r.planned {
		old[j] = j.plan
	}
	forget(r.planned)
	var now []*refJob
	for _, j := range r.waiting() {
		if old[j] != nil {
			now = append(now, j)
		}
	}
	for i, j := range r.planned {
		if now[i] != j || !r.stands(j, old[j]) {
			break
		}
		j.plan = old[j]
	}
}

// waiting are the jobs that wait, in order.
func (r *reference) waiting() (list []*refJob) {
	for _, j := range r.jobs {
		if !j.running && !j.denied {
			list = append(list, j)
		}
	}
	sort.SliceStable(list, func(a, b int) bool {
		return list[a].priority > list[b].priority && !r.broken("order")
	})
	return list
}

func (r *reference) policy(queue string) refQueue {
	if q, ok := r.queues[queue]; ok {
		return q
	}
	return r.others
}

// pass looks at all jobs that wait, and starts those that may. Where nothing
// but new jobs came since the last pass it looks at those alone.
func (r *reference) pass(now float64) (started []*refJob) {
	later := now > r.now
	r.now = now
	jobs := r.waiting()
	fresh := slices.DeleteFunc(slices.Clone(jobs), func(j *refJob) bool { return j.seen })
	alone := r.calm && len(fresh) > 0
	if alone {
		jobs = fresh
	} else if later {
		r.loosen()
	}
	r.blocks = slices.DeleteFunc(r.blocks, func(b refBlock) bool { return b.end <= r.now })
	if len(r.planned)+len(r.blocks) > 0 {
		r.assume()
	}
	r.keep()
	if r.broken("kept") {
		forget(jobs)
	}
	r.moved = false
	for _, j := range jobs {
		if alone && r.moved {
			break // those whose places were dropped come before the rest
		}
		j.seen = true
		if r.look(j) {
			started = append(started, j)
		}
	}
	r.planned = nil
	for _, j := range r.waiting() {
		if j.plan != nil {
			r.planned = append(r.planned, j)
		}
	}
	r.calm = !r.moved
	return started
}

// look starts a job, or reserves a place for it, or neither.
func (r *reference) look(j *refJob) bool {
	was := j.plan
	j.plan = nil
	j.denied = (j.priority > 0 || was != nil) && !r.possible(j)
	if j.denied || j.priority == 0 || r.parked(j) || r.blocked(j) {
		r.moved = r.moved || was != nil
		return false
	}
	due := r.due(j)
	if was != nil && due { // those behind it are kept: it may come to be earlier
		p := r.earliest(j)
		if p == nil || p.start >= was.start && p.start > r.now {
			p = was
		}
		r.moved = r.moved || p != was
		return r.take(j, p)
	}
	r.moved = r.moved || was != nil
	p := r.at(r.now, j)
	if p == nil && due { // those behind it have to give way
		if !r.broken("drop") && forget(r.behind(j)) {
			r.moved = true
		}
		r.assume()
		p = r.earliest(j)
		j.hopeless = p == nil
	}
	return r.take(j, p)
}

// take starts a job, if it is time.
func (r *reference) take(j *refJob, p *place) bool {
	if p == nil || p.start > r.now {
		j.plan = p
		return false
	}
	j.running, j.holds, p.end = true, p.holds, r.endAt(j, r.now)
	if j.limit > 0 || r.ends > 0 || j.block != "" {
		j.expiration = p.end
	}
	return true
}

// ahead are the jobs of the same queue that wait before one and could run.
func (r *reference) ahead(j *refJob) (list []*refJob) {
	for _, o := range r.waiting() {
		if o == j {
			break
		}
		same := o.queue == j.queue || r.broken("fifo")
		if same && o.priority > 0 && !o.hopeless && !r.parked(o) && r.possible(o) {
			list = append(list, o)
		}
	}
	return list
}

func (r *reference) behind(j *refJob) []*refJob {
	jobs := r.waiting()
	return jobs[slices.Index(jobs, j)+1:]
}

// blocked tells whether a job is kept back by one before it.
func (r *reference) blocked(j *refJob) bool { return r.policy(j.queue).fifo && len(r.ahead(j)) > 0 }

// due tells whether a job has a reservation if it does not fit.
func (r *reference) due(j *refJob) bool {
	n := 0
	for _, o := range r.ahead(j) {
		if o.plan != nil {
			n++
		}
	}
	if j.hopeless {
		return false
	}
	depth := r.policy(j.queue).depth
	return n < depth || r.broken("depth") && n == depth
}

// forget drops the reservations of jobs, and tells whether there were any.
func forget(jobs []*refJob) (any bool) {
	for _, j := range jobs {
		any = any || j.plan != nil
		j.plan = nil
	}
	return any
}

// next is when a pass is due though nothing happened; infinite for never.
func (r *reference) next() float64 {
	next := math.Inf(1)
	could := func(j *refJob) bool { return j.priority > 0 && !r.parked(j) }
	if !slices.ContainsFunc(r.waiting(), could) || len(r.planned)+len(r.blocks) == 0 {
		return next
	}
	times := r.beginnings()
	for _, b := range r.blocks {
		times = append(times, b.end)
	}
	for _, j := range r.jobs {
		times = append(times, j.assumed)
	}
	for _, t := range times {
		if t > r.now {
			next = min(next, t)
		}
	}
	return next
}
