// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"flux-burrow/rv1reader/idset"
)

func hosts(l *List) (all []string) {
	for i, h := range l.All() {
		if i != len(all) {
			panic("positions do not follow")
		}
		all = append(all, h)
	}
	return all
}

// drawNames gives names that are apt to share runs.
func drawNames(t *rapid.T, label string) []string {
	one := rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom([]string{"n", "n0", "foo", "", "x-"}).Draw(t, "prefix")
		n := rapid.StringMatching(`0{0,2}[0-9]{1,2}`).Draw(t, "number")
		return name + n + rapid.SampledFrom([]string{"", "", "", "-ib0"}).Draw(t, "suffix")
	})
	return rapid.SliceOfN(one, 0, 20).Draw(t, label)
}

func TestNamesKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := drawNames(t, "names")
		l := &List{}
		for _, n := range names {
			l.AppendHost(n)
		}
		if got := hosts(l); !slices.Equal(got, names) {
			t.Fatalf("got %q, want %q", got, names)
		}
		back, err := Parse(l.String())
		if err != nil || !back.Equal(l) || !l.Equal(back) || !slices.Equal(hosts(back), names) {
			t.Fatalf("%q is written %s, which reads as %q, %v", names, l, back, err)
		}
		if c, err := Parse(strings.Join(names, ",")); err != nil || !c.Equal(l) || c.String() != l.String() {
			t.Fatalf("%q in a row reads as %s, %v", names, c, err)
		}
		if l.Len() != len(names) {
			t.Fatalf("length %d of %q", l.Len(), names)
		}
		for i, n := range names {
			if l.At(i) != n || l.Index(n) != slices.Index(names, n) {
				t.Fatalf("%q: at %d is %s, index of %s is %d", names, i, l.At(i), n, l.Index(n))
			}
		}
		for _, n := range []string{"n", "n00", "n+1", "foo5", "", "n-1", "n0123456789012345678901"} {
			if l.Index(n) != slices.Index(names, n) {
				t.Fatalf("%q: index of %q is %d", names, n, l.Index(n))
			}
		}
		uniq := hosts(l.Uniq())
		slices.Sort(uniq)
		want := slices.Clone(names)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(uniq, want) {
			t.Fatalf("%q once each: %q", names, uniq)
		}
	})
}

func TestSliceAndCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, all := &List{}, drawNames(t, "names")
		for _, n := range all {
			l.AppendHost(n)
		}
		// Runs that came from brackets, some with suffixes.
		text := randomText(rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))))
		if more, err := Parse(text); err == nil && more.Len() < 1000 {
			l.AppendList(more)
			all = append(all, hosts(more)...)
		}
		positions := &idset.Set{}
		for _, lo := range rapid.SliceOfN(rapid.IntRange(0, len(all)+3), 0, 6).Draw(t, "positions") {
			positions.AddRange(lo, lo+rapid.IntRange(0, 9).Draw(t, "length"))
		}
		var want []string
		for p := range positions.All() {
			if p < len(all) {
				want = append(want, all[p])
			}
		}
		s := l.Slice(positions)
		if got := hosts(s); !slices.Equal(got, want) || s.Len() != len(want) {
			t.Fatalf("%s of %s: %q, want %q", positions, l, got, want)
		}
		if len(all) == 0 || len(want) == 0 {
			return
		}
		i := rapid.IntRange(0, len(all)-1).Draw(t, "i")
		j := rapid.IntRange(0, len(want)-1).Draw(t, "j")
		n, same := min(len(all)-i, len(want)-j), 0
		for same < n && all[i+same] == want[j+same] {
			same++
		}
		if got := l.Common(i, s, j, n); got != same {
			t.Fatalf("%s from %d and %s from %d have %d in common, not %d", l, i, s, j, same, got)
		}
		if l.Equal(s) != slices.Equal(all, want) {
			t.Fatalf("%s and %s: equal is %v", l, s, l.Equal(s))
		}
	})
}

// Short strings that name many hosts cost no more than their length, and what
// is past the limits is refused.
func TestCompact(t *testing.T) {
	for in, runs := range map[string]int{
		"n[1-100000]": 1, "n[000001-100000]-ib0": 1, "n[1-50000],n[50001-100000]": 1, "a[0-49999],b[0-49999]": 2,
	} {
		l := MustParse(in)
		if l.Len() != 100000 || l.NumRuns() != runs {
			t.Errorf("%s: %d hosts in %d runs", in, l.Len(), l.NumRuns())
		}
	}
	long := strings.Repeat("n[1-1048576],", 5)
	for _, c := range []struct{ in, want string }{
		{"n[0-1048576]", "more than 1048576 hosts"},
		{long, "more than 4194304 hosts"},
		{"n[" + strings.Repeat("1,", 10240) + "1]", "more than 10240 ranges"},
		{strings.Repeat("n", 256), "name of 256 bytes, the limit is 255"},
		{"n[" + strings.Repeat("0", 256) + "]", "name of 257 bytes, the limit is 255"},
		{"n[99999999999999999999]", "number 99999999999999999999 is too large"},
		{"n[0-18446744073709551615]", "more than 1048576 hosts"},
		{"2[0000000000000000000]", "at byte 0: the number at the end of 20000000000000000000 is too large"},
		{"n[5-10]0000000000000000000", "at byte 0: the number at the end of n100000000000000000000 is too large"},
		{"a,n18446744073709551616", "at byte 2: the number at the end of n18446744073709551616 is too large"},
	} {
		if _, err := Parse(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20s: %v, want %q", c.in, err, c.want)
		}
	}
	// Numbers at the end of what can be counted.
	l := MustParse("n[18446744073709551614-18446744073709551615]")
	l.AppendHost("n99999999999999999999")
	l.AppendHost("n0")
	want := []string{"n18446744073709551614", "n18446744073709551615", "n99999999999999999999", "n0"}
	if got := hosts(l); !slices.Equal(got, want) || l.Slice(idset.NewRange(1, 9)).Len() != 3 || l.Index(want[2]) != 2 {
		t.Errorf("got %q", got)
	}
	if err := l.Append("x[1-4194301]"); err == nil || l.Len() != 4 {
		t.Errorf("appended past the limit: %v, %d", err, l.Len())
	}
	if err := l.Append("x[1-2]"); err != nil || l.Len() != 6 {
		t.Errorf("append: %v, %d", err, l.Len())
	}
}

// Padding is a part of a name, if it shows.
func TestPadding(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same int
	}{
		{"n[1-3]", "n[01-03]", 0}, {"n[08-11]", "n[8-11]", 0}, {"n[9-11]", "n9,n[10-11]", 3}, {"n[10-12]", "n10,n11,n012", 2},
		{"n[1-2]-ib", "n[01-02]-ib", 0},
	} {
		a, b := MustParse(c.a), MustParse(c.b)
		if n := a.Common(0, b, 0, a.Len()); n != c.same || a.Equal(b) != (n == a.Len()) {
			t.Errorf("%s and %s: %d in common, equal %v", a, b, n, a.Equal(b))
		}
	}
}

func TestNil(t *testing.T) {
	var none *List
	if none.Len() != 0 || none.Index("") != -1 || none.String() != "" || !none.Equal(&List{}) || none.NumRuns() != 0 ||
		none.Slice(idset.New(0)).Len() != 0 || none.Uniq().Len() != 0 || none.Clone().Len() != 0 || none.Bracketed() {
		t.Error("a nil list does not read as an empty one")
	}
	c := MustParse("a1").Clone()
	c.AppendHost("a2")
	if c.String() != "a[1-2]" {
		t.Error(c)
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"a,n[3-1]": `hostlist "a,n[3-1]": at byte 4: range 3-1 runs backwards`,
		"n[1,]":    `hostlist "n[1,]": at byte 4: a number is missing`,
		"n[1-x]":   `hostlist "n[1-x]": at byte 4: 'x' is not a digit`,
		"b,n[1":    `hostlist "b,n[1": at byte 2: '[' without a ']'`,
		"b,n1]":    `hostlist "b,n1]": at byte 4: ']' without a '['`,
		"n[1-2-3]": `hostlist "n[1-2-3]": at byte 5: '-' is not a digit`,
	} {
		if _, err := Parse(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
