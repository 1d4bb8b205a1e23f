// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

// State is how much is free on each node, as counts and as sets of nodes. It is
// all that a search for a place needs, and it is cheap to copy: a plan of the
// future works on a copy.
type State struct {
	totalC, totalG []int32 // never changed after the start
	freeC, freeG   []int32
	users          []int32 // jobs that hold anything on the node
	fences         []int32 // jobs that keep others off the node

	present Bits // part of the instance
	up      Bits // may be given to jobs
	idle    Bits // usable, and wholly free
	some    Bits // usable, with a free core
	byFree  []Bits
	nFree   []int32 // how many nodes are in each of byFree
	inFree  []int32 // index in byFree that the node is in; -1 for none
}

func newState(n int) *State {
	s := &State{
		totalC: make([]int32, n), totalG: make([]int32, n),
		freeC: make([]int32, n), freeG: make([]int32, n),
		users: make([]int32, n), fences: make([]int32, n), inFree: make([]int32, n),
		present: FullBits(n), up: NewBits(n), idle: NewBits(n), some: NewBits(n),
	}
	for i := range s.inFree {
		s.inFree[i] = -1
	}
	return s
}

// Clone returns a copy that shares only what never changes.
func (s *State) Clone() *State {
	c := *s
	c.freeC = append([]int32(nil), s.freeC...)
	c.freeG = append([]int32(nil), s.freeG...)
	c.users = append([]int32(nil), s.users...)
	c.fences = append([]int32(nil), s.fences...)
	c.inFree = append([]int32(nil), s.inFree...)
	c.nFree = append([]int32(nil), s.nFree...)
	c.present, c.up = s.present.Clone(), s.up.Clone()
	c.idle, c.some = s.idle.Clone(), s.some.Clone()
	c.byFree = make([]Bits, len(s.byFree))
	for i, b := range s.byFree {
		if b != nil {
			c.byFree[i] = b.Clone()
		}
	}
	return &c
}

// Len returns the number of nodes, those that are gone too.
func (s *State) Len() int { return len(s.totalC) }

// usable tells whether jobs may be given anything on the node.
func (s *State) usable(i int) bool {
	return s.up.Has(i) && s.present.Has(i) && s.fences[i] == 0
}

// settle brings the sets up to date with what the counts say of a node.
func (s *State) settle(i int) {
	usable := s.usable(i)
	s.idle.put(i, usable && s.users[i] == 0 && s.totalC[i] > 0)
	some := usable && s.freeC[i] > 0
	s.some.put(i, some)
	at := int32(-1)
	if some {
		at = s.freeC[i]
	}
	if at == s.inFree[i] {
		return
	}
	if was := s.inFree[i]; was >= 0 {
		s.byFree[was].Clear(i)
		s.nFree[was]--
	}
	s.inFree[i] = at
	if at < 0 {
		return
	}
	for int(at) >= len(s.byFree) {
		s.byFree = append(s.byFree, nil)
		s.nFree = append(s.nFree, 0)
	}
	if s.byFree[at] == nil {
		s.byFree[at] = NewBits(s.Len())
	}
	s.byFree[at].Set(i)
	s.nFree[at]++
}

// take books counts on a node for a job that had nothing there.
func (s *State) take(i int, cores, gpus int32) {
	s.freeC[i] -= cores
	s.freeG[i] -= gpus
	s.users[i]++
	s.settle(i)
}

// give is the reverse of take.
func (s *State) give(i int, cores, gpus int32) {
	s.freeC[i] += cores
	s.freeG[i] += gpus
	s.users[i]--
	s.settle(i)
}

func (s *State) fence(i int, by int32) {
	s.fences[i] += by
	s.settle(i)
}

// FreeOn returns what is free on a node, be it up or not, fenced or not.
func (s *State) FreeOn(i int) (cores, gpus int32) { return s.freeC[i], s.freeG[i] }

// TotalOf returns what there is on a node.
func (s *State) TotalOf(i int) (cores, gpus int32) { return s.totalC[i], s.totalG[i] }

// FencesOn returns how many jobs keep all others off a node.
func (s *State) FencesOn(i int) int { return int(s.fences[i]) }

// Blank returns a state of the same nodes, up as here and without fences, to be
// filled by Put. It is made in old, if that is not nil and of as many nodes.
func (s *State) Blank(old *State) *State {
	if old == nil || old.Len() != s.Len() {
		old = newState(s.Len())
	}
	old.totalC, old.totalG = s.totalC, s.totalG
	copy(old.present, s.present)
	copy(old.up, s.up)
	return old
}

// Put says what is free on a node: all of it, or less since a job is there.
func (s *State) Put(i int, cores, gpus int32) {
	s.freeC[i], s.freeG[i], s.users[i] = cores, gpus, 1
	if cores == s.totalC[i] && gpus == s.totalG[i] {
		s.users[i] = 0
	}
	s.settle(i)
}

// Up returns the nodes that are up, fenced ones with them.
func (s *State) Up() Bits {
	b := s.up.Clone()
	b.And(s.present)
	return b
}
