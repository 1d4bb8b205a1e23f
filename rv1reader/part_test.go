// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flux-burrow/rv1reader/idset"
)

// The R that a scheduler of flux-core answered with, for the same allocation
// on the same inventory.
func TestNewR(t *testing.T) {
	inv := NewInventory(mustRead(t, doc(`[{"rank":"0-7","children":{"core":"0-3","gpu":"0"}}]`,
		`,"nodelist":["tioga[0-7]"],"properties":{"batch":"0-3","big":"2-5","debug":"6"}`)))
	r, err := inv.NewR(NewResourceSet(Group{idset.NewRange(2, 3), CoresGPUs(idset.NewRange(0, 3), idset.New(0))}))
	if err != nil {
		t.Fatal(err)
	}
	r.NSlots, r.Starttime, r.Expiration = 2, 1796055555.8385298, 1796057355.8385298
	want := `{"version": 1, "execution": {"R_lite": [{"rank": "2-3", "children": {"core": "0-3", "gpu": "0"}}],
		"starttime": 1796055555.8385298, "expiration": 1796057355.8385298, "nslots": 2, "nodelist": ["tioga[2-3]"],
		"properties": {"batch": "2-3", "big": "2-3"}}}`
	if d := cmp.Diff(loose(t, []byte(want)), loose(t, r.Encode())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if m := inv.Map(r); !m.Fits() || !m.Set.Equal(r.Set) || m.Whole.String() != "2-3" {
		t.Errorf("mapped back: %+v", m)
	}
	for _, rank := range []int{3, 9} {
		if _, err := inv.NewR(NewResourceSet(Group{idset.New(rank), CoresGPUs(idset.New(4), nil)})); err == nil {
			t.Errorf("core4 of rank %d is not refused", rank)
		}
	}
}

// Each rank keeps what it has, in a part of an R and in the R of a part of an
// inventory.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawR(t)
		some := drawIDs(t, "some ranks", ranks)
		sel, rem := r.SelectRanks(some), r.RemoveRanks(some)
		if !sel.Ranks.Union(rem.Ranks).Equal(r.Ranks) || sel.Ranks.Overlaps(rem.Ranks) || rem.Ranks.Overlaps(some) {
			t.Fatalf("%s is split at %s into %s and %s", r.Ranks, some, sel.Ranks, rem.Ranks)
		}
		alloc, err := NewInventory(r).NewR(r.Set.SelectRanks(some))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []*R{sel, rem, alloc} {
			if (part.Nodelist == nil) != (r.Nodelist == nil) && !(part == alloc && r.Ranks.Empty()) ||
				r.Nodelist != nil && part.Nodelist.Len() != part.Ranks.Count() {
				t.Fatalf("nodelist %s of ranks %s", part.Nodelist, part.Ranks)
			}
			for rank := range part.Ranks.All() {
				if part.Host(rank) != r.Host(rank) || !part.Set.At(rank).Equal(r.Set.At(rank)) {
					t.Fatalf("rank %d: %q has %s, in the part %q has %s", rank, r.Host(rank), r.Set.At(rank), part.Host(rank), part.Set.At(rank))
				}
				for _, p := range r.Properties {
					if p.Ranks.Contains(rank) != part.PropertyRanks(p.Name).Contains(rank) {
						t.Fatalf("property %s of rank %d", p.Name, rank)
					}
				}
			}
		}
		if sel.Expiration != r.Expiration || sel.NSlots != r.NSlots || string(sel.Scheduling) != string(r.Scheduling) {
			t.Fatal("other fields changed")
		}
	})
}
