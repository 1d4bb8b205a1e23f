// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"cmp"
	"slices"

	"flux-burrow/rv1reader/idset"
)

// overlay makes Set where entries of R_lite repeat ranks. flux-core takes that
// as long as no id is named twice at a rank. spans are sorted by lo.
//
// n entries that all overlap give up to 2n stretches of n entries each, so the
// work is bounded by the length of the input and the rest refused.
func (rd *reader) overlay(spans []span, entries []entry) {
	budget := 1<<16 + 16*len(spans)
	b := newBuilder(len(spans))
	var active []span
	for i, lo := 0, 0; i < len(spans) || len(active) > 0; {
		if len(active) == 0 {
			lo = spans[i].lo
		}
		for i < len(spans) && spans[i].lo == lo {
			active = append(active, spans[i])
			i++
		}
		hi := active[0].hi
		for _, s := range active[1:] {
			hi = min(hi, s.hi)
		}
		if i < len(spans) {
			hi = min(hi, spans[i].lo-1)
		}
		for _, s := range active {
			for _, c := range entries[s.e].children {
				budget -= c.IDs.NumRuns()
			}
			budget--
		}
		if budget < 0 {
			e := &entries[active[len(active)-1].e]
			rd.fault(litePath(e.index, "rank"), e.node, -1, "too many entries repeat ranks of others")
			break
		}
		if len(active) == 1 {
			b.add(lo, hi, entries[active[0].e].children)
		} else {
			b.add(lo, hi, rd.join(idset.Run{Lo: lo, Hi: hi}, active, entries))
		}
		active = slices.DeleteFunc(active, func(s span) bool { return s.hi == hi })
		lo = hi + 1
	}
	rd.r.Set = b.set
}

// claimed is a run of ids and the entry that names it.
type claimed struct {
	idset.Run
	e *entry
}

// join gives the children of several entries at the same ranks together, and
// reports ids that two of them name.
func (rd *reader) join(ranks idset.Run, active []span, entries []entry) Children {
	byType := map[string][]claimed{}
	var types []string
	for _, s := range active {
		for _, c := range entries[s.e].children {
			if byType[c.Type] == nil {
				types = append(types, c.Type)
			}
			for r := range c.IDs.Runs() {
				byType[c.Type] = append(byType[c.Type], claimed{r, &entries[s.e]})
			}
		}
	}
	list := make([]Child, 0, len(types))
	for _, typ := range types {
		runs := byType[typ]
		slices.SortStableFunc(runs, func(a, b claimed) int { return cmp.Compare(a.Lo, b.Lo) })
		ids := &idset.Set{}
		for i, r := range runs {
			if r.Lo <= ids.Last() {
				first, second := runs[i-1].e, r.e
				if first.index > second.index {
					first, second = second, first
				}
				both := idset.NewRange(r.Lo, min(r.Hi, ids.Last()))
				rd.fault(litePath(second.index, "children."+typ), second.node, -1,
					"%s%s of rank %s is in %s too", typ, brief(both),
					idset.NewRange(ranks.Lo, ranks.Hi), litePath(first.index, ""))
			}
			ids.AddRange(r.Lo, r.Hi)
		}
		list = append(list, Child{typ, ids})
	}
	return NewChildren(list...)
}
