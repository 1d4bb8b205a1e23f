// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"flux-burrow/hooks/jobid"
)

// promises are what holds of a scheduler whatever its policy. They look at what
// is waiting, running and planned, and not at how that came about.
type promises struct {
	w     *world
	plans func() map[jobid.ID]place // that the scheduler has now
	last  map[jobid.ID]place        // that it had when last at rest
	order []jobid.ID                // of the jobs that waited then
	ran   map[jobid.ID]bool         // jobs that ran then
}

func (p *promises) check() error {
	now := p.plans()
	for _, broken := range []func(map[jobid.ID]place) error{p.idle, p.room, p.later, p.apart} {
		if err := broken(now); err != nil {
			return fmt.Errorf("%4.0f %w", p.w.now-epoch, err)
		}
	}
	p.last, p.order, p.ran = now, nil, map[jobid.ID]bool{}
	for _, j := range p.w.ref.jobs {
		p.ran[j.id] = j.running
	}
	for _, j := range p.w.ref.waiting() {
		p.order = append(p.order, j.id)
	}
	return nil
}

// with is a machine with what runs and waits, and these plans.
func (p *promises) with(plans map[jobid.ID]place) *reference {
	r := p.w.ref.clone()
	r.now = p.w.now
	r.assume()
	for _, j := range r.jobs {
		j.plan = nil
		if place, ok := plans[j.id]; ok {
			j.plan = &place
		}
	}
	return r
}

// idle: no job waits that could start now and would delay no reservation, but
// behind another of its queue where the queue is in strict order.
func (p *promises) idle(plans map[jobid.ID]place) error {
	r := p.with(plans)
	ahead := map[string]bool{}
	for _, j := range r.waiting() {
		if j.priority == 0 || r.parked(j) || ahead[j.queue] && r.policy(j.queue).fifo {
			continue
		}
		if place := r.at(r.now, j); place != nil {
			return fmt.Errorf("%d waits, and could have %v", j.id, place.holds)
		}
		ahead[j.queue] = true
	}
	return nil
}

// room: nothing is reserved twice, or while something runs there.
func (p *promises) room(plans map[jobid.ID]place) error {
	r := p.with(plans)
	for _, t := range r.beginnings() {
		for n := range r.nodes {
			left := r.left(n, t, &refJob{block: "none"})
			if left.cores < 0 || left.gpus < 0 {
				return fmt.Errorf("rank %d has %v left at %.0f", n, left, t-epoch)
			}
		}
	}
	return nil
}

// later: a reservation never moves later, unless a job is past its limit, the
// machine or a limit changed, or a job came in front of it.
func (p *promises) later(plans map[jobid.ID]place) error {
	if p.w.ref.ends > 0 || p.endless() {
		return nil // and what has no limit is shorter the later it starts: it lasts no time at all in the end
	}
	for _, j := range p.w.ref.jobs {
		if p.w.shaken || j.running && j.expiration > 0 && j.expiration <= p.w.now {
			return nil
		}
	}
	for _, j := range p.w.ref.waiting() {
		was, planned := p.last[j.id]
		is, still := plans[j.id]
		if !planned || p.overtaken(j, plans) {
			continue
		}
		if !still || is.start > was.start {
			return fmt.Errorf("%d was to start at %.0f, now at %v", j.id, was.start-epoch, is)
		}
	}
	return nil
}

// overtaken tells whether a job came in front of one that waits: a new one, one
// with a new priority, or one whose turn it is now to have a reservation.
func (p *promises) overtaken(j *refJob, plans map[jobid.ID]place) bool {
	front := p.order[:max(0, slices.Index(p.order, j.id))]
	for _, f := range p.w.ref.jobs {
		inFront := f.priority > j.priority || f.priority == j.priority && f.id < j.id
		_, had := p.last[f.id]
		_, has := plans[f.id]
		turn := !had && (f.running || has)
		if inFront && !p.ran[f.id] && (turn || !slices.Contains(front, f.id)) {
			return true
		}
	}
	still := slices.DeleteFunc(slices.Clone(front), func(id jobid.ID) bool {
		f := p.w.ref.job(id)
		return f == nil || f.running
	})
	return !slices.IsSortedFunc(still, func(a, b jobid.ID) int {
		x, y := p.w.ref.job(a), p.w.ref.job(b)
		return cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(x.id, y.id))
	})
}

// endless tells whether a job in front waits for one without a limit: its
// reservation is a year away, always, and moves all behind it.
func (p *promises) endless() bool {
	for _, place := range p.last {
		if place.start > p.w.now+year/2 {
			return true
		}
	}
	return false
}

// apart: nothing runs inside the advance reservation of others that was there
// when it started.
func (p *promises) apart(map[jobid.ID]place) error {
	r := p.w.ref
	for _, j := range r.jobs {
		for _, b := range r.blocks {
			begun, end := p.w.begun[j.id], p.w.until[j.id]
			if end == 0 {
				end = begun + year
			}
			for n := range j.holds {
				if b.nodes[n] && j.running && j.block != b.name && b.made < begun && begun < b.end && b.start < end {
					return fmt.Errorf("%d is on rank %d, which is reserved for %s", j.id, n, b.name)
				}
			}
		}
	}
	return nil
}

// plans are the reservations of the engine.
func (u *underTest) plans() map[jobid.ID]place {
	plans := map[jobid.ID]place{}
	for _, r := range u.engine.plan.Reservations() {
		p := place{r.Start, r.End, map[int]room{}}
		for _, t := range r.Takes {
			p.holds[u.engine.pool.Rank(int(t.Node))] = room{int(t.Cores), int(t.GPUs)}
		}
		plans[r.Job.ID] = p
	}
	return plans
}

// The engine keeps its promises.
func TestPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt, 15)
		u := newUnderTest(fatal{t, rt}, s)
		w := newWorld(s, u)
		w.rest = (&promises{w: w, plans: u.plans}).check
		if err := w.play(); err != nil {
			rt.Fatal(err)
		}
	})
}
