// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"

	"flux-burrow/rv1reader/idset"
)

// SelectRanks returns an R of what r names at the given ranks: resources,
// hosts, and properties with the ranks that are left. All else stays, the
// scheduling key as well, which then may name more than the R. A nodelist that
// does not match the ranks, as in a broken R, is left out.
func (r *R) SelectRanks(ranks *idset.Set) *R {
	out := *r
	out.Set, out.Ranks = r.Set.SelectRanks(ranks), r.Ranks.Intersect(ranks)
	out.Nodelist, out.Properties = nil, nil
	if r.Nodelist != nil && r.Nodelist.Len() == r.Ranks.Count() {
		positions, n, i := &idset.Set{}, 0, 0
		for run := range r.Ranks.Runs() {
			for ; i < out.Ranks.NumRuns() && out.Ranks.RunAt(i).Lo <= run.Hi; i++ {
				part := out.Ranks.RunAt(i) // lies within run, being a part of Ranks
				positions.AddRange(n+part.Lo-run.Lo, n+part.Hi-run.Lo)
			}
			n += run.Hi - run.Lo + 1
		}
		out.Nodelist = r.Nodelist.Slice(positions)
	}
	out.Properties = propertiesAt(r.Properties, ranks)
	return &out
}

// RemoveRanks returns r without the given ranks, as SelectRanks does with the
// others. It is for jobs of which a part was freed. Ranks that r does not name
// are passed over.
func (r *R) RemoveRanks(ranks *idset.Set) *R {
	return r.SelectRanks(r.Ranks.Difference(ranks))
}

func propertiesAt(all []Property, ranks *idset.Set) []Property {
	var some []Property
	for _, p := range all {
		if both := p.Ranks.Intersect(ranks); !both.Empty() {
			some = append(some, Property{p.Name, both})
		}
	}
	return some
}

// NewR returns the R of an allocation: set with its hosts and properties. The
// caller fills in NSlots, Starttime, Expiration and, if need be, Scheduling. It
// refuses a set that is not within the inventory.
func (inv *Inventory) NewR(set *ResourceSet) (*R, error) {
	if !inv.Set().Contains(set) {
		return nil, fmt.Errorf("the instance has not got %s", set.Difference(inv.Set()))
	}
	r := &R{Set: set, Ranks: set.Ranks()}
	if inv.byHost != nil {
		positions := &idset.Set{}
		for run := range r.Ranks.Runs() {
			at := inv.position(run.Lo)
			positions.AddRange(at, at+run.Hi-run.Lo)
		}
		r.Nodelist = inv.r.Nodelist.Slice(positions)
	}
	r.Properties = propertiesAt(inv.r.Properties, r.Ranks)
	return r, nil
}
