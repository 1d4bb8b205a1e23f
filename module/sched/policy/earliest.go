// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"slices"
	"sort"

	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/resource"
)

// year is how far away an end is that is not known, in seconds.
const year = 365 * 86400.0

// span is when a job may run, and for how long.
type span struct {
	duration float64 // 0: until
	until    float64
	known    bool    // until is a real end, not the horizon
	from, to float64 // of the advance reservation that it runs in; to 0: none
	inside   bool
}

// end returns when a job that starts at a time ends at the latest.
func (s span) end(start float64) float64 {
	if s.duration > 0 {
		return start + s.duration
	}
	if start < s.until {
		return s.until
	}
	return start + year
}

// allows tells whether a job may start at a time, as far as its advance
// reservation goes.
func (s span) allows(start float64) bool {
	return !s.inside || start >= s.from && s.end(start) <= s.to
}

// search finds the first time at which a request fits.
//
// Each node adds to a count that changes with the time of the start: it rises
// where something becomes free, and falls where the job would run into what
// comes later. Both are where a step begins to count, or ceases to; so a node
// is looked at only there.
type search struct {
	*profile
	diff  []int // change of the count at each of times
	edges []int
	last  []change // of the node before
}

type change struct{ at, by int }

func (s *search) first(req *jobspec.Request, sc resource.Scope, up resource.Bits, sp span, notBefore float64) (float64, bool) {
	s.diff = slices.Grow(s.diff[:0], len(s.times)+1)[:len(s.times)+1]
	clear(s.diff)
	node := -1
	sc.Each(up, func(i int) {
		if node < 0 || !s.alike(sc, node, i) {
			s.look(req, sc, sp, i)
			node = i
		}
		for _, c := range s.last {
			s.diff[c.at] += c.by
		}
	})
	want := req.Slots
	if req.ByNode() {
		want = req.Nodes
	}
	count := 0
	for k, t := range s.times {
		count += s.diff[k]
		if count < want.Min || t < notBefore || !sp.allows(t) {
			continue
		}
		if _, ok := want.Largest(count); ok {
			return t, true
		}
	}
	return 0, false
}

// alike tells whether two nodes add the same.
func (s *search) alike(sc resource.Scope, i, k int) bool {
	ci, gi := s.pool.TotalOf(i)
	ck, gk := s.pool.TotalOf(k)
	return ci == ck && gi == gk && sc.IsWhole(i) == sc.IsWhole(k) && slices.Equal(s.steps[i], s.steps[k])
}

// look works out what a node adds, from which times on.
func (s *search) look(req *jobspec.Request, sc resource.Scope, sp span, i int) {
	s.last = s.last[:0]
	steps := s.steps[i]
	s.edges = append(s.edges[:0], 0)
	for _, st := range steps[1:] {
		enters := sort.Search(len(s.times), func(k int) bool { return sp.end(s.times[k]) > st.at })
		s.edges = append(s.edges, s.index(st.at), enters)
	}
	slices.Sort(s.edges)
	had := 0
	for n, k := range s.edges {
		if k == len(s.times) || n > 0 && s.edges[n-1] == k {
			continue
		}
		t := s.times[k]
		c, g := s.room(i, t, sp.end(t), sp.inside)
		if has := s.pool.Weight(req, sc, i, c, g); has != had {
			s.last = append(s.last, change{k, has - had})
			had = has
		}
	}
}

// place picks nodes for a job that starts at a time, which first has found.
func (s *search) place(req *jobspec.Request, sc resource.Scope, sp span, o resource.Order, t float64, scratch *resource.State) (*resource.Pick, *resource.State, bool) {
	scratch = s.pool.Blank(scratch)
	for i := range s.steps {
		c, g := s.room(i, t, sp.end(t), sp.inside)
		scratch.Put(i, c, g)
	}
	pick, ok := scratch.Find(req, o, sc)
	return pick, scratch, ok
}
