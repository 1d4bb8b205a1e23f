// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"slices"
	"sort"
	"strings"
)

// Where and when a job has a place: what is free is worked out anew, for each
// node and time that is asked about.

func (r *reference) usable(at int, j *refJob) bool {
	n := &r.nodes[at]
	name, not := strings.CutPrefix(j.needs, "^")
	if b := r.blockOf(j); b != nil && !b.nodes[at] {
		return false
	}
	return n.up && !n.gone && (name == "" || n.props[name] != not)
}

// horizon stands for an end that is not known.
func (r *reference) horizon() float64 {
	return epoch + year
}

// end is when a job that runs is taken to end.
func (r *reference) end(j *refJob) float64 {
	switch {
	case j.expiration == 0:
		return r.horizon()
	case j.expiration > r.now:
		return j.expiration
	}
	return max(j.assumed, r.now+1)
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
	until := r.horizon()
	if r.ends > 0 && !r.broken("instance") {
		until = r.ends
	}
	if b := r.blockOf(j); b != nil {
		until = b.end
	}
	switch {
	case j.limit > 0:
		return t + j.limit
	case t < until:
		return until
	}
	return t + year
}

// blockOf is the advance reservation that a job names.
func (r *reference) blockOf(j *refJob) *refBlock {
	for i := range r.blocks {
		if r.blocks[i].name == j.block {
			return &r.blocks[i]
		}
	}
	return nil
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
		if b.nodes[n] && b.start <= t && t < b.end && of.block == "" && !r.broken("block") {
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
		times = append(times, b.start, b.end)
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
	if b := r.blockOf(j); j.block != "" && (b == nil || t < b.start || p.end > b.end) {
		return nil
	}
	count, least, most := 0, j.slots, max(j.slots, j.most)
	if j.nodes > 0 {
		least, most = j.nodes, max(j.nodes, j.most)
	}
	for _, n := range r.order(t, p.end, j) {
		fit := r.slots(n, r.least(n, t, p.end, j), j)
		take := min(fit, most-count)
		if j.nodes > 0 {
			take = j.slots // on each
		}
		if count == most || !r.usable(n, j) || take == 0 || take > fit {
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
func (r *reference) order(t, end float64, j *refJob) []int {
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
			return r.least(x, t, end, j).cores < r.least(y, t, end, j).cores
		case "worst":
			return r.least(x, t, end, j).cores > r.least(y, t, end, j).cores
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

// possible tells whether a job could run if all was up and free.
func (r *reference) possible(j *refJob) bool { return r.empty(true).at(r.now, j.anywhere()) != nil }

// shutOut tells whether a job names an advance reservation that it can't use.
func (r *reference) shutOut(j *refJob) bool {
	b := r.blockOf(j)
	return j.block != "" && (b == nil || !b.open || max(r.now, b.start)+j.limit > b.end)
}

// parked tells whether a job could not run if what is up was free.
func (r *reference) parked(j *refJob) bool {
	return r.shutOut(j) || !r.broken("parked") && r.empty(false).at(r.now, j.anywhere()) == nil
}

func (j *refJob) anywhere() *refJob {
	own := j.clone()
	own.block = ""
	return own
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
