// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader/idset"
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
	mistake string // makes one on purpose; see mistakes
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

func (r *reference) broken(mistake string) bool { return r.mistake == mistake }

func (r *reference) usable(n *refNode, j *refJob) bool {
	name, not := strings.CutPrefix(j.needs, "^")
	return n.up && !n.gone && (name == "" || n.props[name] != not)
}

// end is when a job that runs is taken to end.
func (r *reference) end(j *refJob) float64 {
	switch {
	case j.expiration == 0:
		if r.broken("year") {
			return math.Inf(1)
		}
		return r.now + year
	case j.expiration > r.now:
		return j.expiration
	}
	return j.assumed
}

func (r *reference) early() float64 {
	if r.broken("one second early") {
		return 1
	}
	return 0
}

// assume gives jobs that are past their expiration an end.
func (r *reference) assume() {
	for _, j := range r.jobs {
		switch {
		case !j.running || j.expiration == 0 || j.expiration > r.now:
			j.assumed = 0
		case r.broken("overdue"):
			j.assumed = r.now + 1
		case j.assumed <= r.now:
			j.assumed = r.now + max(1, r.now-j.expiration)
		}
	}
}

// endAt is when a job that waits would end if it started at t.
func (r *reference) endAt(j *refJob, t float64) float64 {
	if j.limit > 0 {
		return t + j.limit
	}
	for _, b := range r.blocks {
		if b.name == j.block {
			return max(b.end, t)
		}
	}
	if r.ends > 0 {
		return max(r.ends, t)
	}
	return t + year
}

// left is what a node has left for a job at time t.
func (r *reference) left(n int, t float64, of *refJob) room {
	left := r.nodes[n].room
	for _, j := range r.jobs {
		switch {
		case j.running && t < r.end(j)-r.early():
			left = left.less(j.holds[n])
			if j.fences[n] && !r.broken("fence") {
				return room{}
			}
		case j.plan != nil && j != of && j.plan.start <= t && t < j.plan.end:
			left = left.less(j.plan.holds[n])
			if _, some := j.plan.holds[n]; some && r.broken("whole nodes") {
				return room{}
			}
		}
	}
	for _, b := range r.blocks {
		if b.nodes[n] && b.start <= t && t < b.end && b.name != of.block && !r.broken("block") {
			return room{}
		}
	}
	return left
}

// least is what a node has left for a job at any time from start to end: less
// than at the start only from when something that is planned begins.
func (r *reference) least(n int, start, end float64, of *refJob) room {
	left := r.left(n, start, of)
	times := r.beginnings()
	for _, t := range times {
		if t > start && t < end && !r.broken("window") {
			f := r.left(n, t, of)
			left = room{min(left.cores, f.cores), min(left.gpus, f.gpus)}
		}
	}
	return left
}

func (r *reference) beginnings() (times []float64) {
	for _, j := range r.jobs {
		if j.plan != nil {
			times = append(times, j.plan.start)
		}
	}
	for _, b := range r.blocks {
		times = append(times, b.start)
	}
	return times
}

// endings are the times from now on at which something gets free.
func (r *reference) endings() []float64 {
	times := []float64{r.now}
	for _, j := range r.jobs {
		switch {
		case j.running:
			times = append(times, r.end(j)-r.early())
		case j.plan != nil:
			times = append(times, j.plan.end)
		}
	}
	for _, b := range r.blocks {
		times = append(times, b.end)
	}
	times = slices.DeleteFunc(times, func(t float64) bool { return t < r.now })
	sort.Float64s(times)
	return times
}

// slots is how many slots of a job there is room for.
func (r *reference) slots(n int, left room, j *refJob) int {
	if (j.whole || r.nodes[n].whole) && left != r.nodes[n].room {
		return 0
	}
	fit := left.cores / j.cores
	if j.gpus > 0 && !r.broken("gpus") {
		fit = min(fit, left.gpus/j.gpus)
	}
	return max(fit, 0)
}

// at finds a place for a job from time t on; nil if there is none.
func (r *reference) at(t float64, j *refJob) *place {
	p := &place{t, r.endAt(j, t), map[int]room{}}
	count, least, most := 0, j.slots, max(j.slots, j.most)
	if j.nodes > 0 {
		least, most = j.nodes, max(j.nodes, j.most)
	}
	for _, n := range r.order(t, j) {
		fit := r.slots(n, r.least(n, t, p.end, j), j)
		take := min(fit, most-count)
		if j.nodes > 0 {
			take = j.slots // on each
		}
		if count == most || !r.usable(&r.nodes[n], j) || take == 0 || take > fit {
			continue
		}
		p.holds[n] = room{take * j.cores, take * j.gpus}
		if j.whole || r.nodes[n].whole {
			p.holds[n] = r.nodes[n].room
		}
		if j.nodes > 0 {
			take = 1
		}
		count += take
	}
	if count < least {
		return nil
	}
	return p
}

// order is which nodes a job is given first.
func (r *reference) order(t float64, j *refJob) []int {
	order := make([]int, len(r.nodes))
	for n := range order {
		order[n] = n
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := order[a], order[b]
		switch r.match {
		case "last":
			return x > y
		case "best":
			return r.left(x, t, j).cores < r.left(y, t, j).cores
		case "worst":
			return r.left(x, t, j).cores > r.left(y, t, j).cores
		}
		return x < y
	})
	return order
}

// empty is the same machine with nothing on it; all is up, if asked for.
func (r *reference) empty(all bool) *reference {
	e := &reference{nodes: slices.Clone(r.nodes), now: r.now, mistake: r.mistake}
	for n := range e.nodes {
		e.nodes[n].up = e.nodes[n].up || all
	}
	return e
}

func (r *reference) possible(j *refJob) bool { return r.empty(true).at(r.now, j) != nil }
func (r *reference) parked(j *refJob) bool {
	return r.empty(false).at(r.now, j) == nil && !r.broken("parked")
}

// earliest finds the first time at which a job fits.
func (r *reference) earliest(j *refJob) *place {
	for _, t := range r.endings() {
		if p := r.at(t, j); p != nil {
			return p
		}
	}
	return nil
}

// stands tells whether a job can still have the place that was reserved for it.
func (r *reference) stands(j *refJob, p *place) bool {
	ok := p.start >= r.now && p.end == r.endAt(j, p.start)
	for n, h := range p.holds {
		left := r.least(n, p.start, p.end, j)
		ok = ok && r.usable(&r.nodes[n], j) && left.cores >= h.cores && left.gpus >= h.gpus
	}
	return ok
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

// pass looks once at all jobs that wait, and starts those that may.
func (r *reference) pass(now float64) (started []*refJob) {
	r.now = now
	r.assume()
	jobs := r.waiting()
	blocked, reserved := map[string]bool{}, map[string]int{}
	if r.broken("kept") {
		forget(jobs)
	}
	for i, j := range jobs {
		q := r.policy(j.queue)
		was := j.plan
		j.plan = nil
		switch {
		case j.priority == 0:
			continue
		case !r.possible(j):
			j.denied = true
			continue
		case r.parked(j), blocked[j.queue]:
			continue
		}
		due := reserved[j.queue] < q.depth || r.broken("depth") && reserved[j.queue] == q.depth
		p := r.at(now, j)
		if p == nil && due && (was == nil || !r.stands(j, was)) && !r.broken("drop") {
			forget(jobs[i:])
			p = r.at(now, j)
		}
		if p != nil {
			r.start(j, p)
			started = append(started, j)
			continue
		}
		if q.fifo {
			blocked[j.queue] = true
			for _, o := range jobs {
				blocked[o.queue] = blocked[o.queue] || r.broken("fifo")
			}
		}
		if due {
			reserved[j.queue]++
			j.plan = r.earliest(j)
		}
	}
	return started
}

// forget drops the reservations of jobs.
func forget(jobs []*refJob) {
	for _, j := range jobs {
		j.plan = nil
	}
}

func (r *reference) start(j *refJob, p *place) {
	j.running, j.holds = true, p.holds
	if j.limit > 0 || p.end != r.now+year {
		j.expiration = p.end
	}
	r.assume()
}

// next is when a pass is due though nothing happened; infinite for never.
func (r *reference) next() float64 {
	next := math.Inf(1)
	times := r.beginnings()
	for _, b := range r.blocks {
		times = append(times, b.end)
	}
	for _, j := range r.jobs {
		times = append(times, j.assumed)
	}
	for _, t := range times {
		if t > r.now && len(r.waiting()) > 0 {
			next = min(next, t)
		}
	}
	return next
}

// ranks tells where a job is.
func (j *refJob) ranks() string {
	set := idset.New(slices.Collect(maps.Keys(j.holds))...)
	return set.String()
}

// text tells what a job was given.
func (j *refJob) text() string {
	s := fmt.Sprintf("%d:", j.id)
	for n := range 64 {
		if h, ok := j.holds[n]; ok {
			s += fmt.Sprintf(" rank%d/core%d", n, h.cores)
			if h.gpus > 0 {
				s += fmt.Sprintf("/gpu%d", h.gpus)
			}
		}
	}
	if j.expiration > 0 {
		s += fmt.Sprintf(" until %.0f", j.expiration-epoch)
	}
	return s
}
