// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const top = 80 // small, so that sets meet each other

// model is a set the plain way.
type model [top + 20]bool

func (m *model) list() (ids []int) {
	for id, in := range m {
		if in {
			ids = append(ids, id)
		}
	}
	return ids
}

// check compares a set with its model by every way there is to look at it.
func checkSet(t *rapid.T, s *Set, m *model) {
	want := m.list()
	if got := slices.Collect(s.All()); !slices.Equal(got, want) {
		t.Fatalf("members %v, want %v", got, want)
	}
	first, last := -1, -1
	if len(want) > 0 {
		first, last = want[0], want[len(want)-1]
	}
	if s.Count() != len(want) || s.Empty() != (len(want) == 0) || s.First() != first || s.Last() != last {
		t.Fatalf("count %d empty %v first %d last %d of %v", s.Count(), s.Empty(), s.First(), s.Last(), want)
	}
	for i, prev := 0, -2; i < s.NumRuns(); i++ {
		r := s.RunAt(i)
		if r.Lo > r.Hi || r.Lo <= prev+1 {
			t.Fatalf("runs are not apart: %v", slices.Collect(s.Runs()))
		}
		prev = r.Hi
	}
	next := -1
	for id := len(m) - 1; id >= 0; id-- {
		if s.Contains(id) != m[id] || (s.IndexRun(id) >= 0) != m[id] || s.Next(id) != next {
			t.Fatalf("id %d: contains %v, next %d, in %v", id, s.Contains(id), s.Next(id), want)
		}
		if m[id] {
			next = id
		}
	}
	back, err := Parse(s.String())
	if err != nil || !back.Equal(s) || !s.Equal(back) {
		t.Fatalf("%s reads as %v, %v", s, back, err)
	}
	var other Set
	if text, err := json.Marshal(s); err != nil || json.Unmarshal(text, &other) != nil || !other.Equal(s) {
		t.Fatalf("%s through JSON is %s", s, &other)
	}
	if b := s.Bracketed(); !MustParse(b).Equal(s) {
		t.Fatalf("%s in brackets is %s", s, b)
	}
}

func draw(t *rapid.T, name string) (*Set, *model) {
	s, m := &Set{}, &model{}
	for _, lo := range rapid.SliceOfN(rapid.IntRange(0, top), 0, 12).Draw(t, name) {
		hi := lo + rapid.IntRange(0, 6).Draw(t, "length")
		s.AddRange(lo, hi)
		for id := lo; id <= hi; id++ {
			m[id] = true
		}
	}
	return s, m
}

func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := draw(t, "set")
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			lo := rapid.IntRange(0, top).Draw(t, "lo")
			hi := lo + rapid.IntRange(-1, 12).Draw(t, "length")
			add := rapid.Bool().Draw(t, "add")
			if add {
				s.AddRange(lo, hi)
			} else {
				s.RemoveRange(lo, hi)
			}
			for id := lo; id <= hi; id++ {
				m[id] = add
			}
		}
		checkSet(t, s, m)
	})
}

func TestAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, ma := draw(t, "a")
		b, mb := draw(t, "b")
		before := a.String() + " " + b.String()
		var u, i, d model
		overlaps, all := false, true
		for id := range ma {
			u[id], i[id], d[id] = ma[id] || mb[id], ma[id] && mb[id], ma[id] && !mb[id]
			overlaps = overlaps || i[id]
			all = all && (ma[id] || !mb[id])
		}
		checkSet(t, a.Union(b), &u)
		checkSet(t, a.Intersect(b), &i)
		checkSet(t, a.Difference(b), &d)
		if a.Overlaps(b) != overlaps || a.ContainsAll(b) != all {
			t.Fatalf("%s and %s: overlaps %v contains all %v", a, b, a.Overlaps(b), a.ContainsAll(b))
		}
		c := a.Clone()
		c.AddSet(b)
		checkSet(t, c, &u)
		c = a.Clone()
		c.RemoveSet(b)
		checkSet(t, c, &d)
		n := rapid.IntRange(0, top).Draw(t, "n")
		if got, want := slices.Collect(a.Take(n).All()), ma.list(); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("the first %d of %v are %v", n, want, got)
		}
		if runs := slices.Collect(a.Runs()); !FromRuns(append(slices.Collect(b.Runs()), runs...)).Equal(a.Union(b)) {
			t.Fatalf("from runs of %s and %s", b, a)
		}
		if now := a.String() + " " + b.String(); now != before {
			t.Fatalf("an operation changed its arguments from %s to %s", before, now)
		}
	})
}

func TestNilAndZero(t *testing.T) {
	var none *Set
	one := New(1)
	if !none.Empty() || none.Count() != 0 || none.Contains(0) || none.Next(0) != -1 || none.First() != -1 ||
		none.Last() != -1 || none.String() != "" || !none.Equal(&Set{}) || !(&Set{}).Equal(none) || none.Equal(one) ||
		!none.Union(one).Equal(one) || !one.Intersect(none).Empty() || !one.Difference(none).Equal(one) ||
		!one.ContainsAll(none) || none.ContainsAll(one) || none.Overlaps(one) || !none.Clone().Empty() ||
		none.IndexRun(3) != -1 || none.NumRuns() != 0 || !none.Take(3).Empty() {
		t.Error("a nil set does not read as an empty one")
	}
	s := &Set{}
	s.Clear()
	s.Remove(3)
	s.AddRange(5, 4)
	if !s.Empty() {
		t.Error("nothing was added and it is not empty")
	}
	for _, f := range []func(){func() { s.Add(-1) }, func() { s.AddRange(0, MaxID+1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("an id out of range did not panic")
				}
			}()
			f()
		}()
	}
	s.Add(MaxID)
	s.Add(MaxID - 1)
	if s.String() != "2147483646-2147483647" || s.Next(MaxID) != -1 {
		t.Errorf("at the end: %s", s)
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"0-":           `idset "0-": at byte 2: a number is missing at the end`,
		"1,3-2":        `idset "1,3-2": at byte 2: range 3-2 does not rise`,
		"5,01":         `idset "5,01": at byte 2: number with a leading zero`,
		"5,5":          `idset "5,5": at byte 2: 5 is out of order after 5`,
		"1,[2]":        `idset "1,[2]": at byte 2: bracket '[' does not enclose the whole set`,
		"1 2":          `idset "1 2": at byte 1: ' ' where a number, '-' or ',' belongs`,
		"1-,2":         `idset "1-,2": at byte 2: ',' where a number, '-' or ',' belongs`,
		"1-2147483648": `idset "1-2147483648": at byte 2: id is above 2147483647`,
	} {
		if _, err := Parse(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
