// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import "testing"

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "foo[08-11]", "vm,vm", "n[1-2]-ib0", "a[0-1]b[0-1]", "x[1,]", "n[ 1 -2]", "n[+1]", "n]", "1", "[1-3]",
		"n99999999999999999999", "n[18446744073709551615]", "n18446744073709551615,n0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		l, err := ParseMax(in, 5000)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Pos < 0 || e.Pos > len(in) {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if l.Len() > 5000 || l.NumRuns() > len(in) {
			t.Fatalf("%d hosts in %d runs out of %d bytes", l.Len(), l.NumRuns(), len(in))
		}
		for i, h := range l.All() {
			if l.At(i) != h {
				t.Fatalf("at %d: %q and %q", i, l.At(i), h)
			}
			if k := l.Index(h); k < 0 || k > i || l.At(k) != h {
				t.Fatalf("index of %q, which is at %d: %d", h, i, k)
			}
		}
		_ = l.Uniq().String()
		if l.Bracketed() {
			return // such names can't be written
		}
		back, err := Parse(l.String())
		if err != nil || !back.Equal(l) {
			t.Fatalf("%q is written %q, which reads as %q, %v", in, l, back, err)
		}
	})
}
