// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"iter"
	"math/bits"
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

var orders = map[string]Order{"first": First, "last": Last, "best": Best, "worst": Worst}

// ParseOrder reads first, last, best or worst.
func ParseOrder(s string) (Order, error) {
	o, ok := orders[s]
	if !ok {
		return First, fmt.Errorf("match=%q is none of first, last, best, worst", s)
	}
	return o, nil
}

func (o Order) String() string {
	for name, v := range orders {
		if v == o {
			return name
		}
	}
	return "?"
}

// Scope limits a search to some nodes. The zero Scope is all nodes.
type Scope struct {
	Within  Bits // nil for all
	Without Bits // nil for none
}

func (sc Scope) word(b Bits, i int) uint64 {
	w := b[i]
	if sc.Within != nil {
		w &= sc.Within[i]
	}
	if sc.Without != nil {
		w &^= sc.Without[i]
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

// candidates yields usable nodes with at least so many free cores, in order;
// idle ones only, if whole is set.
func (s *State) candidates(o Order, whole bool, cores int, sc Scope) iter.Seq[int] {
	return func(yield func(int) bool) {
		if o == First || whole && uniform(s.byFree, cores) {
			base := s.some
			if whole {
				base = s.idle
			}
			sc.in(base, func(i int) bool {
				return int(s.freeC[i]) < cores || yield(i)
			})
			return
		}
		for k := range s.byFree {
			at := k
			if o == Worst {
				at = len(s.byFree) - 1 - k
			}
			if at < cores || s.byFree[at] == nil {
				continue
			}
			more := sc.in(s.byFree[at], func(i int) bool {
				return whole && !s.idle.Has(i) || yield(i)
			})
			if !more {
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
