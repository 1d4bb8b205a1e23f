// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"math/rand"
	"testing"

	"pgregory.net/rapid"
)

func TestBrief(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := Parse(randomText(rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))))
		if err != nil {
			return
		}
		want, size := l.String(), rapid.IntRange(0, 60).Draw(t, "size")
		if len(want) > size {
			want = want[:size] + "..."
		}
		if got := l.Brief(size); got != want {
			t.Fatalf("%d bytes of %s: %s", size, l, got)
		}
	})
	var none *List
	if none.Brief(3) != "" {
		t.Error("a nil list has a form")
	}
	// A hundred bytes name a million hosts, of which few are written out.
	l := MustParse("n[0-1048575]-ib0,n[0-1048575]-ib1,n[0-1048575]-ib2")
	if n := testing.AllocsPerRun(10, func() { l.Brief(100) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
