// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import "iter"

// All yields the members in rising order. The set must not be changed
// meanwhile.
func (s *Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range s.list() {
			for id := r.Lo; id <= r.Hi; id++ {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// Runs yields the runs in rising order; between two of them at least one id
// is missing. The set must not be changed meanwhile.
func (s *Set) Runs() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		for _, r := range s.list() {
			if !yield(r) {
				return
			}
		}
	}
}

// NumRuns returns the number of runs: what the set costs in memory.
func (s *Set) NumRuns() int { return len(s.list()) }

// RunAt returns the i'th run, 0 <= i < NumRuns().
func (s *Set) RunAt(i int) Run { return s.runs[i] }

// IndexRun returns the index of the run that id is in, or -1.
func (s *Set) IndexRun(id int) int {
	if s == nil {
		return -1
	}
	if i := s.at(id); i < len(s.runs) && s.runs[i].Lo <= id {
		return i
	}
	return -1
}

// Take returns a new set of the n smallest members, or of all if there are
// fewer.
func (s *Set) Take(n int) *Set {
	u := withRoom()
	for _, r := range s.list() {
		if n <= 0 {
			break
		}
		hi := min(r.Hi, r.Lo+n-1)
		u.runs = append(u.runs, Run{r.Lo, hi})
		n -= hi - r.Lo + 1
	}
	return u
}
