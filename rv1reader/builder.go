// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"iter"

	"flux-burrow/rv1reader/idset"
)

// builder makes a ResourceSet out of parts that come in rising order of ranks.
type builder struct {
	set *ResourceSet
	// byText finds the kind of children that are equal to ones seen before; it
	// is made once there are too many kinds to compare with each.
	byText map[string]int32
	// byPlace finds it for children that are the very same, which most are.
	byPlace map[*Child]int32
}

func newBuilder(segments int) *builder {
	return &builder{set: &ResourceSet{segs: make([]segment, 0, segments)}}
}

// fewKinds is up to where comparing with each kind is quicker than a map.
const fewKinds = 8

func (b *builder) kindOf(c Children) int32 {
	kinds := b.set.kinds
	if len(kinds) < fewKinds {
		for i := range kinds {
			if kinds[i].Equal(c) {
				return int32(i)
			}
		}
		b.set.kinds = append(kinds, c)
		return int32(len(kinds))
	}
	if b.byText == nil {
		b.byText, b.byPlace = map[string]int32{}, map[*Child]int32{}
		for i := range kinds {
			b.byText[kinds[i].key()] = int32(i)
			b.byPlace[&kinds[i][0]] = int32(i)
		}
	}
	if k, ok := b.byPlace[&c[0]]; ok && len(kinds[k]) == len(c) {
		return k
	}
	text := c.key()
	k, ok := b.byText[text]
	if !ok {
		k = int32(len(kinds))
		b.byText[text] = k
		b.set.kinds = append(kinds, c)
	}
	b.byPlace[&c[0]] = k
	return k
}

func (b *builder) add(lo, hi int, c Children) {
	if len(c) == 0 {
		return
	}
	k := b.kindOf(c)
	if n := len(b.set.segs); n > 0 {
		if last := &b.set.segs[n-1]; last.kind == k && int(last.hi) == lo-1 {
			last.hi = int32(hi)
			return
		}
	}
	b.set.segs = append(b.set.segs, segment{int32(lo), int32(hi), k})
}

// Groups returns the ranks grouped by equal children, by first rank: how
// flux-core groups R_lite.
func (s *ResourceSet) Groups() []Group {
	segs := s.list()
	if len(segs) == 0 {
		return nil
	}
	groups := make([]Group, 0, len(s.kinds))
	at := make([]int32, len(s.kinds)) // index in groups + 1
	for _, g := range segs {
		if at[g.kind] == 0 {
			groups = append(groups, Group{&idset.Set{}, s.kinds[g.kind]})
			at[g.kind] = int32(len(groups))
		}
		groups[at[g.kind]-1].Ranks.AddRange(int(g.lo), int(g.hi))
	}
	return groups
}

// All yields each rank with its children, by rank.
func (s *ResourceSet) All() iter.Seq2[int, Children] {
	return func(yield func(int, Children) bool) {
		for _, g := range s.list() {
			for r := g.lo; ; r++ { // compared at the end: hi may be the largest int32
				if !yield(int(r), s.kinds[g.kind]) {
					return
				}
				if r == g.hi {
					break
				}
			}
		}
	}
}

// Runs yields runs of neighbouring ranks with equal children, by rank: what a
// loop over many thousand equal nodes wants instead of All.
func (s *ResourceSet) Runs() iter.Seq2[idset.Run, Children] {
	return func(yield func(idset.Run, Children) bool) {
		for _, g := range s.list() {
			if !yield(idset.Run{Lo: int(g.lo), Hi: int(g.hi)}, s.kinds[g.kind]) {
				return
			}
		}
	}
}
