// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"slices"
	"testing"
)

// Which event is taken in which state; all others are refused.
func TestTransitions(t *testing.T) {
	taken := map[State][]Event{
		Mounting:      {Ready, Failed, Environment, Late, Cleanup},
		Stopping:      {Ready, Failed, Cleanup},
		Running:       {Ready, Failed, Cleanup, Killed},
		Ending:        {Ready, Failed, Cleanup},
		Unmounting:    {Ready, Failed, Unmounted, GivenUp},
		Idling:        {Ready, Failed},
		OtherStopping: {Ready, Failed, Cleanup},
		OtherRunning:  {Ready, Failed, Cleanup, Killed},
		OtherIdling:   {Ready, Failed},
	}
	for s := State(0); s < states; s++ {
		for e := Event(0); e < events; e++ {
			next, do, ok := Next(s, e)
			if want := slices.Contains(taken[s], e); ok != want {
				t.Errorf("%s in %s: taken is %t", e, s, ok)
			}
			if !ok && (next != s || do != nil) {
				t.Errorf("%s in %s is refused and changes something", e, s)
			}
		}
	}
}

// holds is what a window holds, and what the nodes were asked last.
type holds struct {
	state          State
	prolog, epilog bool
	last           Effect
	timer          bool
}

func (h holds) after(t *testing.T, next State, do []Effect) holds {
	h.state = next
	for _, e := range do {
		switch e {
		case HoldProlog:
			if h.prolog {
				t.Errorf("%s: the prolog is held twice", next)
			}
			h.prolog = true
		case FreeProlog, FailProlog:
			if !h.prolog {
				t.Errorf("%s: the prolog is let go twice", next)
			}
			h.prolog = false
		case HoldEpilog:
			if h.epilog {
				t.Errorf("%s: the epilog is held twice", next)
			}
			h.epilog = true
		case FreeEpilog:
			if !h.epilog {
				t.Errorf("%s: the epilog is let go twice", next)
			}
			h.epilog = false
		case WishMount, WishRun, WishUnmount, WishIdle, Keep:
			h.last = e
		case StartTimer:
			h.timer = true
		case StopTimer:
			h.timer = false
		}
	}
	return h
}

// Every path from a start: what is held is always the same in a state, nothing
// is held where the window is over, and the end can be reached from wherever
// one is. The nodes were asked last for what the state stands for.
func TestEveryPath(t *testing.T) {
	wants := map[State][]Effect{
		Mounting: {WishMount}, Stopping: {WishRun}, Running: {WishRun}, Ending: {WishRun}, Unmounting: {WishUnmount},
		Idling: {WishIdle}, OtherStopping: {WishRun}, OtherRunning: {WishRun}, OtherIdling: {WishIdle},
		Over: {WishIdle, Keep},
	}
	for _, start := range []transition{startRabbit, startOther} {
		first := holds{}.after(t, start.next, start.effects)
		seen := map[State]holds{}
		onward := map[State][]State{}
		todo := []holds{first}
		for len(todo) > 0 {
			h := todo[0]
			todo = todo[1:]
			if !slices.Contains(wants[h.state], h.last) {
				t.Errorf("%s: asked last was %s", h.state, h.last)
			}
			if old, ok := seen[h.state]; ok {
				if old.prolog != h.prolog || old.epilog != h.epilog || old.timer != h.timer {
					t.Errorf("%s: held %+v by one way, %+v by another", h.state, old, h)
				}
				continue
			}
			seen[h.state] = h
			for e := Event(0); e < events; e++ {
				if next, do, ok := Next(h.state, e); ok {
					onward[h.state] = append(onward[h.state], next)
					todo = append(todo, h.after(t, next, do))
				}
			}
		}
		if over := seen[Over]; over.prolog || over.epilog || over.timer {
			t.Errorf("held at the end: %+v", over)
		}
		for s, h := range seen {
			if stops := s == Stopping || s == OtherStopping || s == Mounting; stops != h.prolog {
				t.Errorf("%s: prolog held: %t", s, h.prolog)
			}
			if s != Over && !reaches(onward, s, map[State]bool{}) {
				t.Errorf("%s: no way to the end", s)
			}
		}
		t.Logf("from %s: %d states", start.next, len(seen))
	}
}

func reaches(onward map[State][]State, s State, been map[State]bool) bool {
	if s == Over {
		return true
	}
	been[s] = true
	for _, next := range onward[s] {
		if !been[next] && reaches(onward, next, been) {
			return true
		}
	}
	return false
}

func TestNames(t *testing.T) {
	for s := State(0); s <= states; s++ {
		if s.String() == "" {
			t.Errorf("state %d has no name", s)
		}
	}
	for e := Event(0); e <= events; e++ {
		if e.String() == "" {
			t.Errorf("event %d has no name", e)
		}
	}
	for e := Effect(0); e <= effects; e++ {
		if e.String() == "" {
			t.Errorf("effect %d has no name", e)
		}
	}
}
