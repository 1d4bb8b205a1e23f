// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import (
	"fmt"
	"slices"
)

// check panics on a range that no set can hold: it is a fault of the calling
// code, since ids from outside come through Parse, which reports them.
func check(lo, hi int) {
	if lo < 0 || hi > MaxID {
		panic(fmt.Sprintf("idset: ids %d-%d are not within 0-%d", lo, hi, MaxID))
	}
}

// Add puts id in the set. It panics if id is not within 0..MaxID.
func (s *Set) Add(id int) { s.AddRange(id, id) }

// AddRange puts lo..hi, both included, in the set; nothing if hi < lo.
// It panics if an end is not within 0..MaxID.
func (s *Set) AddRange(lo, hi int) {
	if hi < lo {
		return
	}
	check(lo, hi)
	n := len(s.runs)
	switch { // the end is where nearly all additions go
	case n == 0 || s.runs[n-1].Hi < lo-1:
		s.runs = append(s.runs, Run{lo, hi})
		return
	case s.runs[n-1].Lo <= lo:
		s.runs[n-1].Hi = max(s.runs[n-1].Hi, hi)
		return
	}
	i := s.at(lo - 1) // the first run that overlaps or touches
	j := i
	for j < n && s.runs[j].Lo <= hi+1 {
		lo, hi = min(lo, s.runs[j].Lo), max(hi, s.runs[j].Hi)
		j++
	}
	s.runs = slices.Replace(s.runs, i, j, Run{lo, hi})
}

// Remove takes id out of the set, if it is in it.
func (s *Set) Remove(id int) { s.RemoveRange(id, id) }

// RemoveRange takes every member in lo..hi, both included, out of the set.
func (s *Set) RemoveRange(lo, hi int) {
	if hi < lo {
		return
	}
	i := s.at(lo)
	j := i
	var keep [2]Run
	k := keep[:0]
	for j < len(s.runs) && s.runs[j].Lo <= hi {
		r := s.runs[j]
		if r.Lo < lo {
			k = append(k, Run{r.Lo, lo - 1})
		}
		if r.Hi > hi {
			k = append(k, Run{hi + 1, r.Hi})
		}
		j++
	}
	if i != j {
		s.runs = slices.Replace(s.runs, i, j, k...)
	}
}

// AddSet puts every member of o in the set.
func (s *Set) AddSet(o *Set) {
	if o.Empty() {
		return
	}
	if len(o.runs) < 4 || o.First() > s.Last() {
		for _, r := range o.runs {
			s.AddRange(r.Lo, r.Hi)
		}
		return
	}
	s.runs = s.Union(o).runs
}

// RemoveSet takes every member of o out of the set.
func (s *Set) RemoveSet(o *Set) {
	if o.Empty() {
		return
	}
	if len(o.runs) < 4 {
		for _, r := range o.runs {
			s.RemoveRange(r.Lo, r.Hi)
		}
		return
	}
	s.runs = s.Difference(o).runs
}

// Clear takes every member out of the set.
func (s *Set) Clear() { s.runs = s.runs[:0] }
