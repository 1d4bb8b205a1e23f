// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"slices"

	"flux-burrow/rv1reader/idset"
)

// Ledger keeps which job holds what. Two jobs may be booked for the same
// resource, since what runs, runs: the overlap is reported and the resource is
// in use until both are freed. A Ledger needs the caller's lock.
type Ledger struct {
	jobs   map[uint64]*ResourceSet
	claims map[int][]claim // by rank, in the order of booking
}

type claim struct {
	id       uint64
	children Children
}

// Overlap is a resource that a job was booked for though another holds it.
type Overlap struct {
	Rank     int
	ID       uint64   // the job that was just booked
	Other    uint64   // the job that held it before
	Children Children // what both hold
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{jobs: map[uint64]*ResourceSet{}, claims: map[int][]claim{}}
}

// Book books the resources of a mapped set (see Inventory.Map) for a job,
// besides what it may hold already, and reports where other jobs hold the
// same, by rank and in the order they were booked.
func (l *Ledger) Book(id uint64, set *ResourceSet) []Overlap {
	var overlaps []Overlap
	for rank, c := range set.All() {
		list, own := l.claims[rank], -1
		for i := range list {
			if list[i].id == id {
				own = i
			} else if both := list[i].children.Intersect(c); len(both) > 0 {
				overlaps = append(overlaps, Overlap{rank, id, list[i].id, both})
			}
		}
		if own >= 0 {
			list[own].children = list[own].children.Union(c)
			continue
		}
		l.claims[rank] = append(list, claim{id, c})
	}
	if old := l.jobs[id]; old != nil {
		set = old.Union(set)
	}
	l.jobs[id] = set
	return overlaps
}

// Free ends a job's hold at the given ranks, at all of them if ranks is nil,
// and returns what it held there. A job or rank that is not known is passed
// over. A job that holds nothing any more is forgotten.
func (l *Ledger) Free(id uint64, ranks *idset.Set) *ResourceSet {
	held, ok := l.jobs[id]
	if !ok {
		return &ResourceSet{}
	}
	freed, rest := held, &ResourceSet{}
	if ranks != nil {
		freed, rest = held.SelectRanks(ranks), held.RemoveRanks(ranks)
	}
	for rank := range freed.All() {
		list := slices.DeleteFunc(l.claims[rank], func(c claim) bool { return c.id == id })
		if len(list) == 0 {
			delete(l.claims, rank)
			continue
		}
		l.claims[rank] = list
	}
	if rest.Empty() {
		delete(l.jobs, id)
	} else {
		l.jobs[id] = rest
	}
	return freed
}

// Held returns what a job holds, and whether the job is known.
func (l *Ledger) Held(id uint64) (*ResourceSet, bool) {
	set, ok := l.jobs[id]
	return set, ok
}

// Jobs returns the ids of the jobs that are booked, sorted.
func (l *Ledger) Jobs() []uint64 {
	ids := make([]uint64, 0, len(l.jobs))
	for id := range l.jobs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Holders returns the jobs that hold anything at a rank, in the order they were
// booked.
func (l *Ledger) Holders(rank int) []uint64 {
	var ids []uint64
	for _, c := range l.claims[rank] {
		ids = append(ids, c.id)
	}
	return ids
}

// UsedAt returns what is in use at a rank.
func (l *Ledger) UsedAt(rank int) Children {
	var used Children
	for _, c := range l.claims[rank] {
		used = used.Union(c.children)
	}
	return used
}

// Used returns all that is in use.
func (l *Ledger) Used() *ResourceSet {
	ranks := make([]int, 0, len(l.claims))
	for rank := range l.claims {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	b := newBuilder(len(ranks))
	for _, rank := range ranks {
		b.add(rank, rank, l.UsedAt(rank))
	}
	return b.set
}
