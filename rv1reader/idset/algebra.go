// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

// Each operation walks both lists of runs once, so it costs the sum of the
// runs whatever the number of members.

func (s *Set) list() []Run {
	if s == nil {
		return nil
	}
	return s.runs
}

// Union returns a new set of the members of either.
func (s *Set) Union(o *Set) *Set {
	a, b := s.list(), o.list()
	u := withRoom()
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Lo <= b[0].Lo {
			u.AddRange(a[0].Lo, a[0].Hi)
			a = a[1:]
		} else {
			u.AddRange(b[0].Lo, b[0].Hi)
			b = b[1:]
		}
	}
	return u
}

// Intersect returns a new set of the members of both.
func (s *Set) Intersect(o *Set) *Set {
	a, b := s.list(), o.list()
	u := withRoom()
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo <= hi {
			u.runs = append(u.runs, Run{lo, hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return u
}

// Difference returns a new set of the members of s that are not in o.
func (s *Set) Difference(o *Set) *Set {
	b := o.list()
	u := withRoom()
	for _, r := range s.list() {
		for len(b) > 0 && b[0].Hi < r.Lo {
			b = b[1:]
		}
		lo := r.Lo
		for i := 0; i < len(b) && b[i].Lo <= r.Hi; i++ {
			if b[i].Lo > lo {
				u.runs = append(u.runs, Run{lo, b[i].Lo - 1})
			}
			lo = b[i].Hi + 1
		}
		if lo <= r.Hi {
			u.runs = append(u.runs, Run{lo, r.Hi})
		}
	}
	return u
}

// Overlaps tells whether the sets have a member in common.
func (s *Set) Overlaps(o *Set) bool {
	a, b := s.list(), o.list()
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Hi < b[0].Lo:
			a = a[1:]
		case b[0].Hi < a[0].Lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// ContainsAll tells whether every member of o is in s. It costs the runs of o
// times the logarithm of the runs of s.
func (s *Set) ContainsAll(o *Set) bool {
	a := s.list()
	for _, r := range o.list() {
		if s == nil {
			return false
		}
		if i := s.at(r.Lo); i == len(a) || a[i].Lo > r.Lo || a[i].Hi < r.Hi {
			return false
		}
	}
	return true
}
