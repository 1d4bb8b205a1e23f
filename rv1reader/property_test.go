// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

const ranks = 14 // few, so that sets meet each other

// plain is a set of resources the plain way: what is there.
type plain map[string]bool

func at(rank int, typ string, id int) string { return fmt.Sprintf("%d %s %d", rank, typ, id) }

func flat(s *ResourceSet) plain {
	p := plain{}
	for rank, c := range s.All() {
		for _, ch := range c {
			for id := range ch.IDs.All() {
				p[at(rank, ch.Type, id)] = true
			}
		}
	}
	return p
}

func drawIDs(t *rapid.T, label string, top int) *idset.Set {
	s := &idset.Set{}
	for _, lo := range rapid.SliceOfN(rapid.IntRange(0, top), 1, 3).Draw(t, label) {
		s.AddRange(lo, min(top, lo+rapid.IntRange(0, 3).Draw(t, "length")))
	}
	return s
}

func drawChildren(t *rapid.T) Children {
	var list []Child
	for _, typ := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"core", "gpu", "nvme", "a,b[1]"}), 0, 3, rapid.ID).Draw(t, "types") {
		list = append(list, Child{typ, drawIDs(t, typ, 5)})
	}
	return NewChildren(list...)
}

func drawGroups(t *rapid.T) (groups []Group) {
	for range rapid.IntRange(0, 5).Draw(t, "groups") {
		groups = append(groups, Group{drawIDs(t, "ranks", ranks), drawChildren(t)})
	}
	return groups
}

func drawSet(t *rapid.T) *ResourceSet {
	groups := drawGroups(t)
	s, want := NewResourceSet(groups...), plain{}
	for _, g := range groups {
		for rank := range g.Ranks.All() {
			for _, ch := range g.Children {
				for id := range ch.IDs.All() {
					want[at(rank, ch.Type, id)] = true
				}
			}
		}
	}
	checkSet(t, s, want)
	return s
}

// checkSet compares a set with its model, and looks at its form.
func checkSet(t *rapid.T, s *ResourceSet, want plain) {
	t.Helper()
	got := flat(s)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", s, d)
	}
	all := &idset.Set{}
	var c Counts
	for i, g := range s.Groups() {
		if g.Ranks.Overlaps(all) || g.Ranks.Empty() || len(g.Children) == 0 {
			t.Fatalf("group %s of %s", g.Ranks, s)
		}
		all.AddSet(g.Ranks)
		c.Cores += g.Ranks.Count() * g.Children.Cores().Count()
		c.GPUs += g.Ranks.Count() * g.Children.GPUs().Count()
		for _, o := range s.Groups()[:i] {
			if o.Children.Equal(g.Children) || o.Ranks.First() > g.Ranks.First() {
				t.Fatalf("groups are not in order or not joined: %s", s)
			}
		}
	}
	c.Nodes = all.Count()
	if !all.Equal(s.Ranks()) || s.Count() != c || s.CountType("core") != c.Cores || s.Empty() != all.Empty() {
		t.Fatalf("%s: ranks %s, counts %+v", s, s.Ranks(), s.Count())
	}
	for rank := -1; rank <= ranks+1; rank++ {
		if s.Has(rank) != all.Contains(rank) {
			t.Fatalf("%s: has rank %d: %v", s, rank, s.Has(rank))
		}
		n := 0
		for _, ch := range s.At(rank) {
			n += ch.IDs.Count()
			for id := range ch.IDs.All() {
				if !want[at(rank, ch.Type, id)] {
					t.Fatalf("%s: at %d is %s%d", s, rank, ch.Type, id)
				}
			}
		}
		if s.Cores(rank).Count()+s.GPUs(rank).Count()+s.At(rank).IDs("nvme").Count()+s.At(rank).IDs("a,b[1]").Count() != n {
			t.Fatalf("%s: not all types of rank %d", s, rank)
		}
	}
}

func (p plain) filter(keep func(string) bool) plain {
	out := plain{}
	for k := range p {
		if keep(k) {
			out[k] = true
		}
	}
	return out
}

func TestSetAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t), drawSet(t)
		pa, pb := flat(a), flat(b)
		before := a.String() + "|" + b.String()
		both := pa.filter(func(k string) bool { return pb[k] })
		union := plain{}
		for k := range pa {
			union[k] = true
		}
		for k := range pb {
			union[k] = true
		}
		checkSet(t, a.Union(b), union)
		checkSet(t, a.Intersect(b), both)
		checkSet(t, a.Difference(b), pa.filter(func(k string) bool { return !pb[k] }))
		if a.Overlaps(b) != (len(both) > 0) || a.Contains(b) != (len(both) == len(pb)) ||
			a.Equal(b) != (len(both) == len(pb) && len(pa) == len(pb)) {
			t.Fatalf("%s and %s: overlaps %v contains %v equal %v", a, b, a.Overlaps(b), a.Contains(b), a.Equal(b))
		}
		if !a.Difference(b).Union(a.Intersect(b)).Equal(a) || !a.Clone().Equal(a) {
			t.Fatalf("%s is not made of its parts", a)
		}
		some := drawIDs(t, "some ranks", ranks)
		sel, rem := a.SelectRanks(some), a.RemoveRanks(some)
		if !sel.Ranks().Equal(a.Ranks().Intersect(some)) || !rem.Ranks().Equal(a.Ranks().Difference(some)) || !sel.Union(rem).Equal(a) {
			t.Fatalf("%s at %s: selected %s, the rest %s", a, some, sel, rem)
		}
		checkSet(t, sel, flat(sel))
		checkSet(t, rem, flat(rem))
		if a.String()+"|"+b.String() != before {
			t.Fatal("an operation changed its arguments")
		}
	})
}

// A part of a list of children is not the whole of it, though they start at the
// same place in memory.
func TestPartOfChildren(t *testing.T) {
	var groups []Group
	for i := range fewKinds + 2 {
		groups = append(groups, Group{idset.New(i), CoresGPUs(idset.New(i), idset.New(0))})
	}
	last := groups[len(groups)-1].Children
	groups = append(groups, Group{idset.New(20), last[:1]}, Group{idset.New(21), last})
	s := NewResourceSet(groups...)
	if s.At(20).String() != "core9" || s.At(21).String() != "core9,gpu0" {
		t.Errorf("at 20 is %s, at 21 %s", s.At(20), s.At(21))
	}
}

func TestNilSet(t *testing.T) {
	var none *ResourceSet
	one := NewResourceSet(Group{idset.New(1), CoresGPUs(idset.New(2), nil)})
	if !none.Empty() || none.Has(0) || none.Count() != (Counts{}) || !none.Union(one).Equal(one) || !one.Union(none).Equal(one) ||
		!one.Difference(none).Equal(one) || !none.Difference(one).Empty() || !one.Intersect(none).Empty() || !none.Intersect(one).Empty() ||
		!one.Contains(none) || none.Contains(one) || none.Overlaps(one) || none.Equal(one) || !none.Equal(&ResourceSet{}) ||
		!none.SelectRanks(idset.New(1)).Empty() || !one.RemoveRanks(nil).Equal(one) || none.String() != "" || none.Groups() != nil {
		t.Error("a nil set does not read as an empty one")
	}
}

func drawR(t *rapid.T) *R {
	r := &R{Set: drawSet(t)}
	r.Ranks = r.Set.Ranks()
	r.Ranks.AddSet(drawIDs(t, "bare ranks", ranks))
	if rapid.Bool().Draw(t, "hosts") {
		r.Nodelist = &hostlist.List{}
		for i := range r.Ranks.Count() {
			r.Nodelist.AppendHost(fmt.Sprintf("%s%0*d", rapid.SampledFrom([]string{"n", "é", "vm"}).Draw(t, "name"), rapid.IntRange(0, 3).Draw(t, "width"), i/2))
		}
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z+@"]{0,4}`), 0, 3, rapid.ID).Draw(t, "properties") {
		if name != "" && name != `"` && !hasQuote(name) {
			r.Properties = append(r.Properties, Property{name, r.Ranks.Take(rapid.IntRange(0, 5).Draw(t, "n"))})
		}
	}
	r.NSlots = rapid.IntRange(0, 3).Draw(t, "nslots")
	r.Starttime = rapid.Float64Range(0, 2e9).Draw(t, "starttime")
	r.Expiration = float64(rapid.IntRange(0, 1<<40).Draw(t, "expiration"))
	if rapid.Bool().Draw(t, "scheduling") {
		r.Scheduling = []byte(`{"graph": {"nodes": [ ]}}`)
	}
	return r
}

func hasQuote(s string) bool {
	for _, c := range s {
		if c == '"' {
			return true
		}
	}
	return false
}

// Reading what was written gives the same R, and writing that the same bytes.
func TestWriteRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawR(t)
		text := r.Encode()
		back, err := Read(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if !back.Set.Equal(r.Set) || !back.Ranks.Equal(r.Ranks) || !back.Nodelist.Equal(r.Nodelist) ||
			(back.Nodelist == nil) != (r.Nodelist == nil) || back.NSlots != r.NSlots || back.Starttime != r.Starttime ||
			back.Expiration != r.Expiration || string(back.Scheduling) != string(r.Scheduling) || len(back.Properties) != len(r.Properties) {
			t.Fatalf("%s reads as %+v", text, back)
		}
		for i, p := range r.Properties {
			if q := back.Properties[i]; q.Name != p.Name || !q.Ranks.Equal(p.Ranks) || !back.PropertyRanks(p.Name).Equal(p.Ranks) {
				t.Fatalf("property %v reads as %v", p, q)
			}
		}
		if again := back.Encode(); string(again) != string(text) {
			t.Fatalf("written again:\n%s\n%s", text, again)
		}
	})
}

// Entries of R_lite in any order, and ranks that repeat, give the set that they
// name together; ids named twice are a fault.
func TestEntriesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, all, twice := []byte(`{"version":1,"execution":{"R_lite":[`), &ResourceSet{}, false
		for i, g := range drawGroups(t) {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendEntry(text, g)
			s := NewResourceSet(g)
			twice = twice || all.Overlaps(s)
			all = all.Union(s)
		}
		r, err := Read(append(text, "]}}"...))
		if (err != nil) != twice {
			t.Fatalf("%s: %v, named twice: %v", text, err, twice)
		}
		if !r.Set.Equal(all) {
			t.Fatalf("%s: read %s, want %s", text, r.Set, all)
		}
		checkSet(t, r.Set, flat(all))
	})
}

// What Map says is in the inventory, and what it leaves out is reported.
func TestMapProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, job := drawR(t), drawR(t)
		inv := NewInventory(whole)
		m := inv.Map(job)
		if !whole.Set.Contains(m.Set) || !job.Set.Contains(m.Set) {
			t.Fatalf("%s is not in both %s and %s", m.Set, whole.Set, job.Set)
		}
		left := job.Set.Difference(m.Set).Ranks()
		if !m.Doubt.Union(m.Lost).ContainsAll(left) {
			t.Fatalf("ranks %s do not fit, doubt is %s, lost %s", left, m.Doubt, m.Lost)
		}
		if !whole.Ranks.ContainsAll(m.Doubt) || whole.Ranks.Overlaps(m.Lost) || m.Fits() != (len(m.Problems) == 0) {
			t.Fatalf("doubt %s, lost %s, ranks %s, fits %v", m.Doubt, m.Lost, whole.Ranks, m.Fits())
		}
		for rank := range whole.Ranks.All() {
			full := m.Set.Has(rank) && m.Set.At(rank).Equal(whole.Set.At(rank))
			if m.Whole.Contains(rank) != full {
				t.Fatalf("rank %d whole: %v; %s of %s", rank, m.Whole.Contains(rank), m.Set, whole.Set)
			}
		}
	})
}
