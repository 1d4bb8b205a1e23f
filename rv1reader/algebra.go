// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"sort"

	"flux-burrow/rv1reader/idset"
)

// sweep walks both sets and calls f for each stretch of ranks over which
// neither changes, with the children on either side (nil where a set has
// none), until f says false.
func sweep(a, b *ResourceSet, f func(lo, hi int, x, y Children) bool) {
	as, bs := a.list(), b.list()
	i, j, lo := 0, 0, 0
	for i < len(as) || j < len(bs) {
		var x, y Children
		hi := int(^uint32(0) >> 1)
		if i < len(as) {
			if int(as[i].lo) <= lo {
				x, hi = a.kinds[as[i].kind], min(hi, int(as[i].hi))
			} else {
				hi = min(hi, int(as[i].lo)-1)
			}
		}
		if j < len(bs) {
			if int(bs[j].lo) <= lo {
				y, hi = b.kinds[bs[j].kind], min(hi, int(bs[j].hi))
			} else {
				hi = min(hi, int(bs[j].lo)-1)
			}
		}
		if (x != nil || y != nil) && !f(lo, hi, x, y) {
			return
		}
		lo = hi + 1
		if i < len(as) && int(as[i].hi) < lo {
			i++
		}
		if j < len(bs) && int(bs[j].hi) < lo {
			j++
		}
	}
}

// along is sweep over the ranks of a only: it finds its places in b by search,
// so that a small a costs little however large b is.
func along(a, b *ResourceSet, f func(lo, hi int, x, y Children) bool) {
	bs := b.list()
	for _, g := range a.list() {
		x := a.kinds[g.kind]
		j := sort.Search(len(bs), func(j int) bool { return bs[j].hi >= g.lo })
		for lo := int(g.lo); lo <= int(g.hi); {
			var y Children
			hi := int(g.hi)
			if j < len(bs) && int(bs[j].lo) <= hi {
				if int(bs[j].lo) <= lo {
					y, hi = b.kinds[bs[j].kind], min(hi, int(bs[j].hi))
				} else {
					hi = int(bs[j].lo) - 1
				}
			}
			if !f(lo, hi, x, y) {
				return
			}
			lo = hi + 1
			if j < len(bs) && int(bs[j].hi) < lo {
				j++
			}
		}
	}
}

func combine(a, b *ResourceSet, op func(x, y Children) Children) *ResourceSet {
	out := newBuilder(max(len(a.list()), len(b.list())))
	sweep(a, b, func(lo, hi int, x, y Children) bool {
		out.add(lo, hi, op(x, y))
		return true
	})
	return out.set
}

// Union returns what is in either set.
func (s *ResourceSet) Union(o *ResourceSet) *ResourceSet {
	if o.Empty() && s != nil {
		return s
	}
	return combine(s, o, Children.Union)
}

// Intersect returns what is in both sets.
func (s *ResourceSet) Intersect(o *ResourceSet) *ResourceSet {
	if len(o.list()) < len(s.list()) {
		s, o = o, s
	}
	out := newBuilder(len(s.list()))
	along(s, o, func(lo, hi int, x, y Children) bool {
		out.add(lo, hi, x.Intersect(y))
		return true
	})
	return out.set
}

// Difference returns what is in s and not in o.
func (s *ResourceSet) Difference(o *ResourceSet) *ResourceSet {
	if o.Empty() && s != nil {
		return s
	}
	return combine(s, o, Children.Difference)
}

// Contains tells whether all of o is in s.
func (s *ResourceSet) Contains(o *ResourceSet) bool {
	ok := true
	along(o, s, func(_, _ int, y, x Children) bool {
		ok = x.Contains(y)
		return ok
	})
	return ok
}

// Overlaps tells whether anything is in both sets.
func (s *ResourceSet) Overlaps(o *ResourceSet) bool {
	found := false
	if len(o.list()) < len(s.list()) {
		s, o = o, s
	}
	along(s, o, func(_, _ int, x, y Children) bool {
		found = x.Overlaps(y)
		return !found
	})
	return found
}

// Equal tells whether both sets hold the same resources.
func (s *ResourceSet) Equal(o *ResourceSet) bool {
	ok := true
	sweep(s, o, func(_, _ int, x, y Children) bool {
		ok = x.Equal(y)
		return ok
	})
	return ok
}

// SelectRanks returns the part of s at the given ranks.
func (s *ResourceSet) SelectRanks(ranks *idset.Set) *ResourceSet {
	return combine(s, mask(ranks), func(x, y Children) Children {
		if y == nil {
			return nil
		}
		return x
	})
}

// RemoveRanks returns s without anything at the given ranks. Ranks that s does
// not have are passed over.
func (s *ResourceSet) RemoveRanks(ranks *idset.Set) *ResourceSet {
	if ranks.Empty() && s != nil {
		return s
	}
	return combine(s, mask(ranks), func(x, y Children) Children {
		if y != nil {
			return nil
		}
		return x
	})
}

// mask turns ranks into a set to sweep along with another. Its one kind is
// there to be not nil.
func mask(ranks *idset.Set) *ResourceSet {
	m := &ResourceSet{kinds: []Children{{}}, segs: make([]segment, 0, ranks.NumRuns())}
	for r := range ranks.Runs() {
		m.segs = append(m.segs, segment{int32(r.Lo), int32(r.Hi), 0})
	}
	return m
}
