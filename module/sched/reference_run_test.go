// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever happens, the engine starts what the reference starts.
func TestReference(t *testing.T) {
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
	"instance",         // jobs without limit last for a year
	"block",            // an advance reservation keeps nobody off
	"whole nodes",      // are reserved where cores would do
}

func TestMistakes(t *testing.T) {
	if seed := finds(t, ""); seed >= 0 {
		t.Errorf("seed %d: they differ with no mistake", seed)
	}
	for _, m := range mistakes {
		if seed := finds(t, m); seed < 0 {
			t.Errorf("%s: not found", m)
		} else {
			t.Logf("%s: seed %d", m, seed)
		}
	}
}

// finds returns the first of some stories, the same each time, in which engine
// and reference differ if the reference makes a mistake; -1 for none.
func finds(t *testing.T, mistake string) int {
	for seed := range 500 {
		s := stories(30).Example(seed)
		w := newWorld(s, newUnderTest(t, s))
		w.ref.mistake = mistake
		if w.play() != nil {
			return seed
		}
	}
	return -1
}
