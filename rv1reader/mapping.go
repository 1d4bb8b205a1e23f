// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import "flux-burrow/rv1reader/idset"

// MaxProblems is how many problems a Mapping lists one by one. Doubt and Lost
// are complete however many there are.
const MaxProblems = 1024

// Mapping is a job's R laid onto an inventory: what it holds there, and what
// does not fit.
type Mapping struct {
	// Set is what R names and the inventory has, at the rank and host that R
	// says. It is always within the inventory's set.
	Set *ResourceSet
	// Whole are the ranks of Set of which the job holds every child.
	Whole *idset.Set
	// Doubt are the ranks of the inventory where the job may hold more than Set
	// says, or hold it elsewhere than R says: a scheduler keeps others off the
	// whole of these nodes until the job's free. For a host that moved it has
	// the rank that R names, if there is one, and those the host is at now. All
	// ranks that an R with faults names are in it.
	Doubt *idset.Set
	// Lost are ranks that R names and the inventory has not got.
	Lost *idset.Set
	// Problems say why; More is the number of them past MaxProblems.
	Problems []*Problem
	More     int

	moved map[string][]int // ranks of hosts that were reported already
}

// Fits tells whether all of R was found where R says it is.
func (m *Mapping) Fits() bool { return m.Doubt.Empty() && m.Lost.Empty() && len(m.Problems) == 0 }

func (m *Mapping) report(p *Problem) {
	if len(m.Problems) >= MaxProblems {
		m.More++
		return
	}
	m.Problems = append(m.Problems, p)
}

// Map lays the R of a job onto the inventory. It always gives an answer: what
// does not fit is left out of the set and reported. An R without a usable
// nodelist is taken by its ranks alone. Map does not keep or change r.
func (inv *Inventory) Map(r *R) *Mapping {
	m := &Mapping{Doubt: &idset.Set{}, Lost: &idset.Set{}}
	sure := inv.sure(r, m)
	set := r.Set
	if !sure.ContainsAll(r.Ranks) {
		set = set.SelectRanks(sure)
	}
	inv.fit(set, m)
	if r.Broken {
		m.Doubt.AddSet(r.Ranks.Intersect(inv.r.Ranks))
	}
	return m
}

// sure returns the ranks of r that the inventory has, with the same host.
func (inv *Inventory) sure(r *R, m *Mapping) *idset.Set {
	if inv.byHost == nil || r.Nodelist.Len() == 0 || r.Nodelist.Len() != r.Ranks.Count() {
		if lost := r.Ranks.Difference(inv.r.Ranks); !lost.Empty() {
			m.Lost = lost
			m.report(&Problem{Kind: UnknownRank, Ranks: lost})
		}
		return r.Ranks.Intersect(inv.r.Ranks)
	}
	sure := &idset.Set{}
	var room [64]byte // for host names: no allocation per rank
	host, pos := room[:0], 0
	for run := range r.Ranks.Runs() {
		for rank := run.Lo; rank <= run.Hi; {
			n := 0 // ranks from here on that are as R says
			if i := inv.r.Ranks.IndexRun(rank); i >= 0 {
				here := inv.r.Ranks.RunAt(i)
				at := inv.starts[i] + rank - here.Lo
				n = r.Nodelist.Common(pos, inv.r.Nodelist, at, min(run.Hi, here.Hi)-rank+1)
				sure.AddRange(rank, rank+n-1)
			}
			if rank, pos = rank+n, pos+n; n == 0 {
				host = r.Nodelist.AppendAt(host[:0], pos)
				inv.misplaced(rank, host, m)
				rank, pos = rank+1, pos+1
			}
		}
	}
	return sure
}

// misplaced reports a rank that is not there, or is another host.
func (inv *Inventory) misplaced(rank int, host []byte, m *Mapping) {
	kind := UnknownRank
	if inv.r.Ranks.Contains(rank) {
		kind = HostUnknown
		m.Doubt.Add(rank)
	} else {
		m.Lost.Add(rank)
	}
	var now []int
	if _, known := inv.byHost[string(host)]; known {
		kind, now = HostMoved, m.ranksOf(inv, host)
	}
	if len(m.Problems) >= MaxProblems {
		m.More++
		return
	}
	m.Problems = append(m.Problems, &Problem{
		Kind: kind, Ranks: idset.New(rank), Host: string(host), InventoryHost: inv.Host(rank), HostRanks: now,
	})
}

// ranksOf puts the ranks that a host is at in doubt and returns them. It does
// so once for each host: many ranks of one host would cost their square.
func (m *Mapping) ranksOf(inv *Inventory, host []byte) []int {
	if ranks, seen := m.moved[string(host)]; seen {
		return ranks
	}
	ranks := inv.RanksOf(string(host))
	for _, now := range ranks {
		m.Doubt.Add(now)
	}
	if m.moved == nil {
		m.moved = map[string][]int{}
	}
	m.moved[string(host)] = ranks
	return ranks
}

// fit splits what the job names at ranks that are sure into what the inventory
// has and what it has not.
func (inv *Inventory) fit(set *ResourceSet, m *Mapping) {
	have := newBuilder(len(set.list()))
	m.Whole = &idset.Set{}
	var extra *builder
	along(set, inv.r.Set, func(lo, hi int, want, there Children) bool {
		switch {
		case want.Equal(there):
			m.Whole.AddRange(lo, hi)
			have.add(lo, hi, there)
		case there.Contains(want):
			have.add(lo, hi, want)
		default:
			if extra == nil {
				extra = newBuilder(1)
			}
			have.add(lo, hi, want.Intersect(there))
			extra.add(lo, hi, want.Difference(there))
			m.Doubt.AddRange(lo, hi)
			if len(there) > 0 && want.Contains(there) {
				m.Whole.AddRange(lo, hi)
			}
		}
		return true
	})
	m.Set = have.set
	if extra == nil {
		return
	}
	for _, g := range extra.set.Groups() {
		for _, c := range g.Children {
			m.report(&Problem{Kind: OutOfRange, Ranks: g.Ranks, Type: c.Type, IDs: c.IDs})
		}
	}
}
