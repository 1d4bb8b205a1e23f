// SPDX-License-Identifier: LGPL-3.0-or-later

package measure

import (
	"cmp"
	"math"
	"slices"

	"flux-burrow/module/sched/policy"
)

// Idle is node-seconds of idle nodes while some waiting job asked for no more
// nodes than were idle, by what speaks against starting it. All that the
// scheduler had to do at an instant is taken to be done in it.
//
//	Open    nothing does: it is the first in the order, or would end before any
//	        reservation can begin. A scheduler that keeps to its policy has 0.
//	Choice  by the number of nodes it could run beside the reservations, so
//	        whether it can depends on which nodes they are of, and, with
//	        conservative, on what was promised to whom before.
//	Held    it would delay a reservation, or, with fifo, is not the first.
//
// The reservations are worked out here, in numbers of nodes, from when running
// jobs reach their limits. With easy the first job has one; with conservative
// all that wait, each made for the first time at this instant.
type Idle struct {
	Open   float64 `json:"open"`
	Choice float64 `json:"choice"`
	Held   float64 `json:"held"`
}

// exact is what sums of times may differ by.
const exact = 1e-6

// maxPlanned bounds how many waiting jobs get a reservation here. Those behind
// count as held.
const maxPlanned = 256

type class int

const (
	none class = iota
	held
	choice
	open
)

// idle goes through a schedule; jobs are in the order of their turn.
func idle(jobs []Record, o Options) Idle {
	type event struct {
		at   float64
		what int // 0 submit, 1 start, 2 end
		job  int
	}
	events := make([]event, 0, 3*len(jobs))
	for i, j := range jobs {
		events = append(events, event{j.Submit, 0, i}, event{j.Start, 1, i}, event{j.End, 2, i})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	s := state{jobs: jobs, policy: o.Policy, free: o.Nodes}
	var sum Idle
	for i, e := range events {
		switch e.what {
		case 0:
			at, _ := slices.BinarySearch(s.waiting, e.job)
			s.waiting = slices.Insert(s.waiting, at, e.job)
		case 1:
			at := slices.Index(s.waiting, e.job)
			s.waiting = slices.Delete(s.waiting, at, at+1)
			s.running = append(s.running, e.job)
			s.free -= jobs[e.job].Nodes
		case 2:
			at := slices.Index(s.running, e.job)
			s.running = slices.Delete(s.running, at, at+1)
			s.free += jobs[e.job].Nodes
		}
		if i+1 == len(events) || events[i+1].at == e.at {
			continue
		}
		s.now = e.at
		lost := float64(s.free) * (events[i+1].at - e.at)
		switch s.look() {
		case open:
			sum.Open += lost
		case choice:
			sum.Choice += lost
		case held:
			sum.Held += lost
		}
	}
	return sum
}

// state is one instant of a schedule.
type state struct {
	jobs             []Record
	policy           policy.Kind
	now              float64
	free             int
	waiting, running []int
}

// look says what speaks against the job with the best claim on the idle nodes.
func (s *state) look() class {
	fits := slices.ContainsFunc(s.waiting, func(i int) bool { return s.jobs[i].Nodes <= s.free })
	switch {
	case !fits:
		return none
	case s.policy == policy.FIFO:
		if s.jobs[s.waiting[0]].Nodes <= s.free {
			return open
		}
		return held
	case s.policy == policy.Easy:
		return s.lookEasy()
	}
	return s.lookConservative()
}

func (s *state) lookEasy() class {
	first := s.jobs[s.waiting[0]]
	if first.Nodes <= s.free {
		return open
	}
	p := s.profile()
	k := p.earliest(first.Nodes, first.Limit)
	if k < 0 {
		return held
	}
	start, spare := p.times[k], p.free[k]-first.Nodes
	best := held
	for _, i := range s.waiting[1:] {
		j := s.jobs[i]
		switch {
		case j.Nodes > s.free:
		case s.now+j.Limit <= start-exact:
			return open
		case j.Nodes <= spare:
			best = choice
		}
	}
	return best
}

// lookConservative: no reservation begins before the first running job ends, as
// only then there is more room than now.
func (s *state) lookConservative() class {
	p := s.profile()
	for _, i := range s.waiting {
		j := s.jobs[i]
		if j.Nodes <= s.free && (len(p.times) == 1 || s.now+j.Limit <= p.times[1]-exact) {
			return open
		}
	}
	for _, i := range s.waiting[:min(len(s.waiting), maxPlanned)] {
		j := s.jobs[i]
		k := p.earliest(j.Nodes, j.Limit)
		if k == 0 {
			return choice
		}
		if k > 0 {
			p.take(k, j.Nodes, j.Limit)
		}
	}
	return held
}

// profile is how many nodes are free from each of some times on.
type profile struct {
	times []float64
	free  []int
}

func (s *state) profile() *profile {
	type end struct {
		at    float64
		nodes int
	}
	ends := make([]end, len(s.running))
	for k, i := range s.running {
		// One that is past its limit is about to end.
		ends[k] = end{math.Max(s.jobs[i].Start+s.jobs[i].Limit, math.Nextafter(s.now, math.Inf(1))), s.jobs[i].Nodes}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	p := &profile{times: []float64{s.now}, free: []int{s.free}}
	for _, e := range ends {
		last := len(p.times) - 1
		if e.at > p.times[last] {
			p.times, p.free = append(p.times, e.at), append(p.free, p.free[last])
			last++
		}
		p.free[last] += e.nodes
	}
	return p
}

// earliest returns the first of the times from which so many nodes are free for
// so long; -1 if there is none.
func (p *profile) earliest(nodes int, limit float64) int {
	for k := 0; k < len(p.times); k++ {
		e := k
		for e < len(p.times) && (e == k || p.times[e] < p.times[k]+limit) && p.free[e] >= nodes {
			e++
		}
		if e == len(p.times) || e > k && p.times[e] >= p.times[k]+limit {
			return k
		}
	}
	return -1
}

// take reserves nodes from one of the times on.
func (p *profile) take(k, nodes int, limit float64) {
	until := p.times[k] + limit
	e, found := slices.BinarySearch(p.times, until)
	if !found {
		p.times = slices.Insert(p.times, e, until)
		p.free = slices.Insert(p.free, e, p.free[e-1])
	}
	for ; k < e; k++ {
		p.free[k] -= nodes
	}
}
