// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import "sort"

// MaxID is the largest id a set can hold. It is the limit of flux-core, whose
// sets have a universe of 2^31 ids.
const MaxID = 1<<31 - 1

// Run is a run of consecutive ids, both ends included, Lo <= Hi.
type Run struct{ Lo, Hi int }

// Set is a set of ids. See the package comment for the rules of its use.
type Set struct {
	// runs are sorted and neither overlap nor touch: there is one way only to
	// hold a set, which makes Equal a comparison of slices.
	runs []Run
}

// withRoom gives an empty set and room for one run in a single allocation:
// nearly all sets in an R are one run.
func withRoom() *Set {
	a := &struct {
		s Set
		r [1]Run
	}{}
	a.s.runs = a.r[:0]
	return &a.s
}

// New returns the set of the given ids. It panics as Add does.
func New(ids ...int) *Set {
	s := withRoom()
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// NewRange returns the set lo..hi, both included; it is empty if hi < lo.
// It panics as AddRange does.
func NewRange(lo, hi int) *Set {
	s := withRoom()
	s.AddRange(lo, hi)
	return s
}

// FromRuns returns the union of the runs, which may come in any order,
// overlap and touch. It panics as AddRange does.
func FromRuns(runs []Run) *Set {
	s := withRoom()
	if !sort.SliceIsSorted(runs, func(i, j int) bool { return runs[i].Lo < runs[j].Lo }) {
		runs = append([]Run(nil), runs...)
		sort.Slice(runs, func(i, j int) bool { return runs[i].Lo < runs[j].Lo })
	}
	for _, r := range runs {
		s.AddRange(r.Lo, r.Hi)
	}
	return s
}

// Empty tells whether the set has no members.
func (s *Set) Empty() bool { return s == nil || len(s.runs) == 0 }

// Count returns the number of members.
func (s *Set) Count() int {
	n := 0
	if s != nil {
		for _, r := range s.runs {
			n += r.Hi - r.Lo + 1
		}
	}
	return n
}

// Contains tells whether id is a member.
func (s *Set) Contains(id int) bool {
	if s == nil {
		return false
	}
	i := s.at(id)
	return i < len(s.runs) && s.runs[i].Lo <= id
}

// at returns the index of the first run that ends at or after id. Written out
// rather than left to sort.Search: it is the inner loop of every look-up.
func (s *Set) at(id int) int {
	lo, hi := 0, len(s.runs)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s.runs[m].Hi < id {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// First returns the smallest member, or -1 if there is none.
func (s *Set) First() int {
	if s.Empty() {
		return -1
	}
	return s.runs[0].Lo
}

// Last returns the largest member, or -1 if there is none.
func (s *Set) Last() int {
	if s.Empty() {
		return -1
	}
	return s.runs[len(s.runs)-1].Hi
}

// Next returns the smallest member greater than id, or -1 if there is none.
func (s *Set) Next(id int) int {
	if s == nil {
		return -1
	}
	i := s.at(id + 1)
	if i == len(s.runs) {
		return -1
	}
	return max(s.runs[i].Lo, id+1)
}

// Equal tells whether both sets have the same members.
func (s *Set) Equal(o *Set) bool {
	if s.Empty() || o.Empty() {
		return s.Empty() == o.Empty()
	}
	if len(s.runs) != len(o.runs) {
		return false
	}
	for i, r := range s.runs {
		if o.runs[i] != r {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares nothing with s.
func (s *Set) Clone() *Set {
	c := withRoom()
	if s != nil {
		c.runs = append(c.runs, s.runs...)
	}
	return c
}
