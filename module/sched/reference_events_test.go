// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"flux-burrow/hooks/jobid"
)

// What the reference is told.

func (r *reference) job(id jobid.ID) *refJob {
	for _, j := range r.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (r *reference) drop(id jobid.ID) {
	r.jobs = slices.DeleteFunc(r.jobs, func(j *refJob) bool { return j.id == id })
}

func (r *reference) submit(j refJob) {
	own := j.clone()
	own.denied = !r.possible(own)
	r.jobs = append(r.jobs, own)
}

func (r *reference) cancel(id jobid.ID)                   { r.drop(id) }
func (r *reference) free(id jobid.ID)                     { r.drop(id) }
func (r *reference) freeNode(id jobid.ID, n int)          { delete(r.job(id).holds, n) }
func (r *reference) prioritize(id jobid.ID, priority int) { r.job(id).priority = priority }
func (r *reference) setUp(n int, up bool)                 { r.nodes[n].up = up }
func (r *reference) shrink(n int)                         { r.nodes[n].gone = true }
func (r *reference) property(n int, name string, on bool) { r.nodes[n].props[name] = on }
func (r *reference) reserve(b refBlock)                   { r.blocks = append(slices.Clone(r.blocks), b) }
func (r *reference) instance(at float64)                  { r.ends = at }

func (r *reference) unreserve(name string) {
	r.blocks = slices.DeleteFunc(slices.Clone(r.blocks), func(b refBlock) bool { return b.name == name })
}

func (r *reference) expire(id jobid.ID, at float64) {
	if !r.broken("extension") {
		r.job(id).expiration = at
	}
}

// reload is a new scheduler in its place: it knows what runs, and no plans.
func (r *reference) reload() {
	for _, j := range r.jobs {
		j.plan, j.assumed = nil, 0
		if len(j.fences) > 0 {
			j.expiration = 0 // there is no R that says it
		}
	}
}

func (r *reference) clone() *reference {
	c := *r
	c.nodes, c.jobs = slices.Clone(r.nodes), nil
	for n := range c.nodes {
		c.nodes[n].props = maps.Clone(c.nodes[n].props)
	}
	for _, j := range r.jobs {
		c.jobs = append(c.jobs, j.clone())
	}
	return &c
}

// denials takes out the jobs that were denied, and names them.
func (r *reference) denials() (got []string) {
	r.jobs = slices.DeleteFunc(r.jobs, func(j *refJob) bool {
		if j.denied {
			got = append(got, fmt.Sprintf("deny %d", j.id))
		}
		return j.denied
	})
	return got
}

// solo is a reference as a side of its own: it passes whenever it is asked, and
// again after each pass that started anything or moved a reservation, which may
// have been in the way of a job in front.
type solo struct{ *reference }

func (s solo) settle(now float64, passed func()) (got []string) {
	for due := true; due && len(s.waiting()) > 0; {
		before := s.planned()
		started := s.pass(now)
		passed()
		for _, j := range started {
			got = append(got, "start "+j.text())
		}
		due = len(started) > 0 || !reflect.DeepEqual(before, s.planned())
	}
	return append(got, s.denials()...)
}

// planned are the reservations of jobs that wait.
func (r *reference) planned() map[jobid.ID]place {
	plans := map[jobid.ID]place{}
	for _, j := range r.jobs {
		if j.plan != nil {
			plans[j.id] = *j.plan
		}
	}
	return plans
}
