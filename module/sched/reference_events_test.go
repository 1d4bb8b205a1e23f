// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"slices"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader/idset"
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

// loosen is said with all but the arrival of a job.
func (r *reference) loosen() *reference {
	r.calm = false
	for _, j := range r.jobs {
		j.hopeless = false
	}
	return r
}

func (r *reference) cancel(id jobid.ID)                   { r.loosen().drop(id) }
func (r *reference) free(id jobid.ID)                     { r.loosen().drop(id) }
func (r *reference) freeNode(id jobid.ID, n int)          { delete(r.loosen().job(id).holds, n) }
func (r *reference) prioritize(id jobid.ID, priority int) { r.loosen().job(id).priority = priority }
func (r *reference) setUp(n int, up bool)                 { r.loosen().nodes[n].up = up }
func (r *reference) shrink(n int)                         { r.loosen().nodes[n].gone = true }
func (r *reference) property(n int, name string, on bool) { r.loosen().nodes[n].props[name] = on }
func (r *reference) instance(at float64)                  { r.loosen().ends = at }
func (r *reference) reserve(b refBlock)                   { r.loosen().blocks = append(slices.Clone(r.blocks), b) }

func (r *reference) unreserve(name string) {
	r.loosen().blocks = slices.DeleteFunc(slices.Clone(r.blocks), func(b refBlock) bool { return b.name == name })
}

func (r *reference) expire(id jobid.ID, at float64) {
	if j := r.loosen().job(id); !r.broken("extension") {
		j.expiration = at
	}
}

// reload is a new scheduler in its place: it knows what runs, and no plans.
func (r *reference) reload() {
	r.loosen().planned = nil
	for _, j := range r.jobs {
		j.plan, j.assumed, j.seen = nil, 0, false
		j.denied = !j.running && !r.possible(j) // it is asked for anew
		if len(j.fences) > 0 {
			j.expiration = 0 // there is no R that says it
		}
	}
}

func (r *reference) clone() *reference {
	c := *r
	c.nodes, c.jobs, c.planned = slices.Clone(r.nodes), nil, slices.Clone(r.planned)
	for n := range c.nodes {
		c.nodes[n].props = maps.Clone(c.nodes[n].props)
	}
	for _, j := range r.jobs {
		c.jobs = append(c.jobs, j.clone())
	}
	for i, j := range c.planned {
		c.planned[i] = c.job(j.id)
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

func (s solo) deliver() {}

func (s solo) settle(now float64, passed func()) (got []string) {
	for n := 0; n < 16 && len(s.waiting()) > 0; n++ {
		started := s.pass(now)
		passed()
		for _, j := range started {
			got = append(got, "start "+j.text())
		}
		if len(started) == 0 && !s.moved {
			break
		}
	}
	return append(got, s.denials()...)
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
