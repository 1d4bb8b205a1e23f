// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import "testing"

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0-3,7", "[1,2]", "0,,2", "01", "1-1", "[[1]]", "0-2147483647", "4294967296", "1-,2", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse(in)
		if b, berr := ParseBytes([]byte(in)); (err == nil) != (berr == nil) || !s.Equal(b) {
			t.Fatalf("string gives %v %v, bytes give %v %v", s, err, b, berr)
		}
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Pos < 0 || e.Pos > len(in) {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if s.NumRuns() > len(in)/2+1 {
			t.Fatalf("%d runs out of %d bytes", s.NumRuns(), len(in))
		}
		back, err := Parse(s.String())
		if err != nil || !back.Equal(s) {
			t.Fatalf("%q is written %q, which reads as %v, %v", in, s, back, err)
		}
	})
}
