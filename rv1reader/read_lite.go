// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"cmp"
	"fmt"
	"slices"

	"flux-burrow/rv1reader/idset"
)

// entry is one element of R_lite, as far as it could be read.
type entry struct {
	index    int
	ranks    *idset.Set
	children Children
	node     node
}

func litePath(i int, key string) string {
	if key == "" {
		return fmt.Sprintf("execution.R_lite[%d]", i)
	}
	return fmt.Sprintf("execution.R_lite[%d].%s", i, key)
}

// lite reads R_lite into Ranks and Set.
func (rd *reader) lite(n node) {
	before := len(rd.faults)
	defer func() { rd.liteFaulty = len(rd.faults) > before }()
	if n.in == nil {
		rd.fault("execution.R_lite", n, -1, "missing")
		return
	}
	if n.kind() != '[' {
		// flux-core reads it as no ranks at all, and then refuses any nodelist.
		rd.warn("execution.R_lite", n, "not an array, read as an empty one")
		return
	}
	var one [1]entry
	entries, total := one[:0], 0
	n.array(func(i int, v node) {
		e, ok := rd.entry(i, v)
		if !ok {
			return
		}
		if total += e.ranks.Count(); total > rd.limits.MaxRanks {
			rd.fault(litePath(i, "rank"), v, -1, "%d ranks up to here, the limit is %d", total, rd.limits.MaxRanks)
			total -= e.ranks.Count()
			return
		}
		entries = append(entries, e)
	})
	if total == 0 && len(rd.faults) == before {
		rd.warn("execution.R_lite", n, "names no ranks")
	}
	rd.assemble(entries)
}

var entryKeys = []string{"rank", "children"}

func (rd *reader) entry(i int, n node) (e entry, ok bool) {
	if n.kind() != '{' {
		rd.fault(litePath(i, ""), n, -1, "not an object")
		return e, false
	}
	var f [2]node
	n.object(func(key, value node) { // as fields does, without building the path
		for k, name := range entryKeys {
			if key.is(name) {
				rd.again(i, name, f[k], value)
				f[k] = value
			}
		}
	})
	e = entry{index: i, node: n}
	ok = true
	for k := range f {
		if f[k].in == nil {
			rd.fault(litePath(i, entryKeys[k]), f[k], -1, "missing")
			ok = false
		}
	}
	if f[0].in != nil {
		e.ranks = rd.ids(func() string { return litePath(i, "rank") }, f[0], rd.limits.MaxRanks)
		if e.ranks != nil && e.ranks.Empty() {
			rd.warn(litePath(i, "rank"), f[0], "names no ranks")
		}
	}
	if f[1].in != nil {
		e.children = rd.children(i, f[1])
	}
	return e, ok && e.ranks != nil
}

func (rd *reader) again(i int, key string, before, value node) {
	if before.in != nil {
		rd.warn(litePath(i, key), value, "the key is there more than once, this one counts")
	}
}

// member is a key and its value; of several with one key the last.
type member struct {
	key   string
	value node
}

// children reads what it can: a faulty type does not hide the others.
func (rd *reader) children(i int, n node) Children {
	if n.kind() != '{' {
		rd.warn(litePath(i, "children"), n, "not an object, read as an empty one")
		return nil
	}
	var room [4]member
	members := room[:0]
	n.object(func(key, value node) {
		typ := typeName(key.raw())
		for k := range members {
			if members[k].key == typ {
				rd.again(i, "children."+typ, members[k].value, value)
				members[k].value = value
				return
			}
		}
		if len(members) <= MaxTypes {
			members = append(members, member{typ, value})
		}
	})
	if len(members) > MaxTypes {
		rd.fault(litePath(i, "children"), n, -1, "more than %d types", MaxTypes)
		return nil
	}
	var room2 [4]Child
	list := room2[:0]
	for _, m := range members {
		path := func() string { return litePath(i, "children."+m.key) }
		list = append(list, Child{m.key, rd.ids(path, m.value, rd.limits.MaxIDs)})
	}
	c := NewChildren(list...)
	if c.Cores().Empty() {
		rd.warn(litePath(i, "children"), n, "no cores")
	}
	return c
}

// typeName spares the allocation for the names that are in every R.
func typeName(raw []byte) string {
	switch string(raw) {
	case `"core"`:
		return "core"
	case `"gpu"`:
		return "gpu"
	}
	return unquote(raw)
}

// span is a run of ranks of one entry, by its index in the list of those that
// could be read. There can be many, and sorting is quicker without pointers.
type span struct{ lo, hi, e int }

// assemble makes Ranks and Set out of the entries, whose ranks may come in any
// order, and may repeat as long as their children differ.
func (rd *reader) assemble(entries []entry) {
	var room [4]span
	spans := room[:0]
	for i := range entries {
		for r := range entries[i].ranks.Runs() {
			spans = append(spans, span{r.Lo, r.Hi, i})
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.e, b.e))
	})
	disjoint := true
	for i := range spans {
		disjoint = disjoint && (i == 0 || spans[i-1].hi < spans[i].lo)
		rd.r.Ranks.AddRange(spans[i].lo, spans[i].hi)
	}
	if !disjoint {
		rd.overlay(spans, entries)
		return
	}
	b := newBuilder(len(spans))
	for _, s := range spans {
		b.add(s.lo, s.hi, entries[s.e].children)
	}
	rd.r.Set = b.set
}
