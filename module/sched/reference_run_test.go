// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"os"
	"testing"

	"pgregory.net/rapid"
)

// Whatever happens, the engine starts what the reference starts.
func TestReference(t *testing.T) {
	if os.Getenv("BURROW_REFERENCE") == "" {
		t.Skip("set BURROW_REFERENCE=1: the two still differ where a priority changes, and in stories with a reload")
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt, 15)
		w := newWorld(s, newUnderTest(fatal{t, rt}, s))
		if err := w.play(); err != nil {
			rt.Fatal(err)
		}
	})
}

// mistakes are what the reference can be made to do wrong. The comparison finds
// each of them.
var mistakes = []string{
	"fence",            // what is fenced is given out
	"overdue",          // a job past its limit ends in a second, always
	"one second early", // running jobs end before their end
	"window",           // only the moment of the start is looked at
	"gpus",             // are not counted
	"order",            // is that of the ids
	"fifo",             // a queue blocks others
	"parked",           // a job that can't run keeps others waiting
	"kept",             // reservations are made anew in each pass
	"drop",             // a job that comes in front drops nothing
	"extension",        // of an expiration is not heard of
	"depth",            // there is one reservation too many
	"year",             // jobs without limit never end
	"whole nodes",      // are reserved where cores would do
}

func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		found := -1
		for seed := range 2000 {
			s := stories(30).Example(seed)
			other := s.reference()
			other.mistake = m
			if newWorld(s, solo{other}).play() != nil {
				found = seed
				break
			}
		}
		t.Logf("%s: seed %d", m, found)
		if found < 0 {
			t.Errorf("%s: not found", m)
		}
	}
}
