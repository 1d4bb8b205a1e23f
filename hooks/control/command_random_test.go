// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestCommandRandom has random orders and ends of processes. At any moment a
// unit has at most one change under way; each order ends once, in its turn; in
// the end nothing is left.
func TestCommandRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &fakeRunner{}
		argv := testArgv
		if rapid.Bool().Draw(t, "status") {
			argv = testArgvStatus
		}
		c := NewCommand(r, argv)
		units := []string{"a.service", "b.service", "c.service"}
		given, ended := map[string]int{}, map[string]int{}
		asked, answered := 0, 0
		var do func(unit string, chain int)
		do = func(unit string, chain int) {
			mine := given[unit]
			given[unit]++
			inside := true
			c.Do(Order{Verb: Start, Unit: unit, Timeout: time.Second}, func(error) {
				if inside {
					t.Fatal("done inside Do")
				}
				if ended[unit] != mine {
					t.Fatalf("order %d of %s ended as number %d", mine, unit, ended[unit])
				}
				ended[unit]++
				if chain > 0 {
					do(unit, chain-1) // from inside done
				}
			})
			inside = false
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			unit := rapid.SampledFrom(units).Draw(t, "unit")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				do(unit, rapid.IntRange(0, 2).Draw(t, "chain"))
			case 2:
				asked++
				c.State(unit, func(State, error) { answered++ })
			case 3:
				r.advance(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			case 4:
				endOne(t, r)
			}
			atMostOne(t, r)
		}
		for i := 0; i < 1000 && (r.live() > 0 || len(running(r)) > 0); i++ {
			r.advance(0)
			endOne(t, r)
			atMostOne(t, r)
			if len(running(r)) == 0 {
				r.advance(time.Second)
			}
		}
		for unit, n := range given {
			if ended[unit] != n {
				t.Fatalf("%s: %d orders, %d ended", unit, n, ended[unit])
			}
		}
		if asked != answered || r.live() != 0 {
			t.Fatalf("%d asked, %d answered, %d timers left", asked, answered, r.live())
		}
	})
}

func running(r *fakeRunner) []*fakeProc {
	var list []*fakeProc
	for _, p := range r.procs {
		if !p.ended {
			list = append(list, p)
		}
	}
	return list
}

func endOne(t *rapid.T, r *fakeRunner) {
	if list := running(r); len(list) > 0 {
		rapid.SampledFrom(list).Draw(t, "process").exit(rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "exit"), "")
	}
}

// atMostOne looks for two changes of one unit at a time. A process that was
// killed and given up counts no more.
func atMostOne(t *rapid.T, r *fakeRunner) {
	n := map[string]int{}
	for _, p := range running(r) {
		gone := len(p.kills) == 2 && r.now >= p.killed[1]+giveUpAfter
		if p.env["BURROW_VERB"] != "status" && !gone {
			n[p.env["BURROW_UNIT"]]++
		}
	}
	for unit, k := range n {
		if k > 1 {
			t.Fatalf("%d changes of %s at a time", k, unit)
		}
	}
}
