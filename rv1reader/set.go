// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"sort"

	"flux-burrow/rv1reader/idset"
)

// ResourceSet is a set of resources: for each rank its children. Ranks with
// equal children share one copy of them and neighbours share one entry, so
// 11,136 equal nodes cost as much as one. A ResourceSet is not changed once
// made: every operation returns a new one, which shares parts with the old.
// The zero value and nil are the empty set.
type ResourceSet struct {
	segs  []segment // by rank, disjoint; neighbours of one kind are joined
	kinds []Children
}

// segment is a run of ranks that have the children kinds[kind].
type segment struct {
	lo, hi int32
	kind   int32
}

// Group is a set of ranks that have equal children: one entry of R_lite.
type Group struct {
	Ranks    *idset.Set
	Children Children
}

// Counts says how much there is in a set of resources.
type Counts struct {
	Nodes, Cores, GPUs int
}

// NewResourceSet returns the set that the groups name together. A rank in
// several groups has the union of their children; groups without children
// name nothing.
func NewResourceSet(groups ...Group) *ResourceSet {
	var parts []part
	for _, g := range groups {
		if len(g.Children) == 0 {
			continue
		}
		for r := range g.Ranks.Runs() {
			parts = append(parts, part{r.Lo, r.Hi, g.Children})
		}
	}
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].lo < parts[j].lo })
	disjoint := true
	for i := 1; i < len(parts); i++ {
		disjoint = disjoint && parts[i-1].hi < parts[i].lo
	}
	if !disjoint {
		s := &ResourceSet{}
		for _, g := range groups {
			s = s.Union(NewResourceSet(g))
		}
		return s
	}
	b := newBuilder(len(parts))
	for _, p := range parts {
		b.add(p.lo, p.hi, p.children)
	}
	return b.set
}

type part struct {
	lo, hi   int
	children Children
}

func (s *ResourceSet) list() []segment {
	if s == nil {
		return nil
	}
	return s.segs
}

// Empty tells whether the set holds nothing.
func (s *ResourceSet) Empty() bool { return len(s.list()) == 0 }

// At returns the children of a rank; nil if the rank is not in the set.
func (s *ResourceSet) At(rank int) Children {
	segs := s.list()
	i := sort.Search(len(segs), func(i int) bool { return int(segs[i].hi) >= rank })
	if i == len(segs) || int(segs[i].lo) > rank {
		return nil
	}
	return s.kinds[segs[i].kind]
}

// Cores returns the core ids at a rank; nil if there are none.
func (s *ResourceSet) Cores(rank int) *idset.Set { return s.At(rank).Cores() }

// GPUs returns the gpu ids at a rank; nil if there are none.
func (s *ResourceSet) GPUs(rank int) *idset.Set { return s.At(rank).GPUs() }

// Has tells whether the set has anything at rank.
func (s *ResourceSet) Has(rank int) bool { return s.At(rank) != nil }

// Ranks returns a new set of the ranks.
func (s *ResourceSet) Ranks() *idset.Set {
	ranks := &idset.Set{}
	for _, g := range s.list() {
		ranks.AddRange(int(g.lo), int(g.hi))
	}
	return ranks
}

// Count returns the numbers of nodes, cores and gpus.
func (s *ResourceSet) Count() Counts {
	var c Counts
	for _, g := range s.list() {
		n := int(g.hi - g.lo + 1)
		c.Nodes += n
		c.Cores += n * s.kinds[g.kind].Cores().Count()
		c.GPUs += n * s.kinds[g.kind].GPUs().Count()
	}
	return c
}

// CountType returns the number of children of a type.
func (s *ResourceSet) CountType(typ string) int {
	n := 0
	for _, g := range s.list() {
		n += int(g.hi-g.lo+1) * s.kinds[g.kind].IDs(typ).Count()
	}
	return n
}

// Clone returns an equal set. As sets are not changed it is the same one.
func (s *ResourceSet) Clone() *ResourceSet { return s }

// String gives the short form, as `flux R decode --short` does:
// rank[0-3]/core[0-7],gpu[0-1] rank4/core[0-15].
func (s *ResourceSet) String() string {
	var b []byte
	for _, g := range s.Groups() {
		if b != nil {
			b = append(b, ' ')
		}
		b = fmt.Appendf(b, "rank%s/%s", g.Ranks.Bracketed(), g.Children)
	}
	return string(b)
}
