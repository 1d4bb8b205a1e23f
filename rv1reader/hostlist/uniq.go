// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"cmp"
	"slices"
)

// Uniq returns a new list with each host once, sorted as flux-core sorts: by
// prefix in byte order, then by number; names of different padding by length.
// Names with anything after the number are sorted as whole names, so those
// cost memory for each name.
func (l *List) Uniq() *List {
	var runs []run
	for _, r := range l.list() {
		if r.suffix == "" {
			runs = append(runs, r)
			continue
		}
		for k := range r.count() {
			runs = append(runs, run{prefix: string(r.append(nil, k)), plain: true})
		}
	}
	slices.SortStableFunc(runs, compare)
	out := &List{}
	for _, r := range runs {
		if k := len(out.runs); k == 0 || !out.runs[k-1].absorb(&r) {
			out.runs = append(out.runs, r)
		}
	}
	for i := range out.runs {
		out.runs[i].start = out.n
		out.n += out.runs[i].count()
	}
	return out
}

func compare(a, b run) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if a.plain != b.plain {
		if a.plain {
			return -1
		}
		return 1
	}
	if _, ok := commonWidth(a.lo, a.width, b.lo, b.width); !ok {
		return cmp.Compare(a.width, b.width)
	}
	return cmp.Compare(a.lo, b.lo)
}

// absorb takes the hosts of b into r, if they overlap or directly follow. b
// does not sort before r.
func (r *run) absorb(b *run) bool {
	if r.plain || b.plain {
		return r.plain && b.plain && r.prefix == b.prefix
	}
	w, ok := commonWidth(r.lo, r.width, b.lo, b.width)
	if !ok || r.prefix != b.prefix || b.lo > r.hi && b.lo-1 != r.hi {
		return false
	}
	r.hi, r.width = max(r.hi, b.hi), w
	return true
}
