// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// Order is which nodes a request is given first.
type Order int

// The orders of the module argument match=.
const (
	First Order = iota // by rank
	Best               // fewest free cores first: fill up nodes that are in use
	Worst              // most free cores first: spread out
	Last               // by rank, the highest first
)

var orderNames = [...]string{"first", "best", "worst", "last"}

// ParseOrder reads first, last, best or worst.
func ParseOrder(s string) (Order, error) {
	if i := slices.Index(orderNames[:], s); i >= 0 {
		return Order(i), nil
	}
	return First, fmt.Errorf("match=%q is none of first, last, best, worst", s)
}

func (o Order) String() string { return orderNames[o] }

// Scope limits a search to some nodes. The zero Scope is all nodes.
type Scope struct {
	Within Bits // nil for all
	// Whole are nodes that are given out whole or not at all; AllWhole says so
	// of every node.
	Whole    Bits
	AllWhole bool
}

// whole tells whether a node is given out whole.
func (sc Scope) whole(i int) bool { return sc.AllWhole || sc.Whole != nil && sc.Whole.Has(i) }

func (sc Scope) word(b Bits, i int) uint64 {
	w := b[i]
	if sc.Within != nil {
		w &= sc.Within[i]
	}
	return w
}

// count returns how many members of b are in scope.
func (sc Scope) count(b Bits) int {
	n := 0
	for i := range b {
		n += bits.OnesCount64(sc.word(b, i))
	}
	return n
}

// in yields the members of b that are in scope, by rank.
func (sc Scope) in(b Bits, yield func(int) bool) bool {
	for i := range b {
		for w := sc.word(b, i); w != 0; w &= w - 1 {
			if !yield(i<<6 | bits.TrailingZeros64(w)) {
				return false
			}
		}
	}
	return true
}

// down is in with the highest rank first.
func (sc Scope) down(b Bits, yield func(int) bool) bool {
	for i := len(b) - 1; i >= 0; i-- {
		for w := sc.word(b, i); w != 0; {
			top := bits.Len64(w) - 1
			w &^= 1 << top
			if !yield(i<<6 | top) {
				return false
			}
		}
	}
	return true
}

// candidates yields usable nodes with at least so many free cores, in order;
// of those that are given out whole only the idle ones.
func (s *State) candidates(o Order, cores int, sc Scope) iter.Seq[int] {
	return func(yield func(int) bool) {
		will := func(i int) bool { // do for the caller, or goes by
			return int(s.freeC[i]) < cores || sc.whole(i) && !s.idle.Has(i) || yield(i)
		}
		base := s.some
		if sc.AllWhole {
			base = s.idle
		}
		switch {
		case o == Last:
			sc.down(base, will)
			return
		case o == First || sc.AllWhole && uniform(s.byFree, cores):
			sc.in(base, will)
			return
		}
		for k := range s.byFree {
			at := k
			if o == Worst {
				at = len(s.byFree) - 1 - k
			}
			if at < cores || s.byFree[at] == nil || s.nFree[at] == 0 {
				continue
			}
			if !sc.in(s.byFree[at], will) {
				return
			}
		}
	}
}

// uniform tells whether all nodes with that many free cores are in one set, so
// that their order is that of ranks.
func uniform(byFree []Bits, cores int) bool {
	n := 0
	for _, b := range byFree[min(cores, len(byFree)):] {
		if b != nil {
			n++
		}
	}
	return n <= 1
}

// Each calls f for the members of b that are in scope.
func (sc Scope) Each(b Bits, f func(i int)) {
	sc.in(b, func(i int) bool { f(i); return true })
}

// IsWhole tells whether a node is given out whole.
func (sc Scope) IsWhole(i int) bool { return sc.whole(i) }
