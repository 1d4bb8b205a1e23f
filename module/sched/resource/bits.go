// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"iter"
	"math/bits"
)

// Bits is a set of small integers, one bit each. Sets that meet in one
// operation are of the same length.
type Bits []uint64

func words(n int) int { return (n + 63) / 64 }

// NewBits returns an empty set for 0..n-1.
func NewBits(n int) Bits { return make(Bits, words(n)) }

// FullBits returns the set 0..n-1.
func FullBits(n int) Bits {
	b := NewBits(n)
	b.fill(n)
	return b
}

func (b Bits) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
}

// Has tells whether i is in the set.
func (b Bits) Has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

// Set puts i in the set.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear takes i out of the set.
func (b Bits) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }

func (b Bits) put(i int, in bool) {
	if in {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// Count returns the number of members.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Clone returns a copy.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// And leaves what is also in o, Or adds o, AndNot takes o out.
func (b Bits) And(o Bits) {
	for i := range b {
		b[i] &= o[i]
	}
}

// Or adds the members of o.
func (b Bits) Or(o Bits) {
	for i := range b {
		b[i] |= o[i]
	}
}

// AndNot takes the members of o out.
func (b Bits) AndNot(o Bits) {
	for i := range b {
		b[i] &^= o[i]
	}
}

// Equal tells whether both have the same members.
func (b Bits) Equal(o Bits) bool {
	if len(b) > 0 && len(b) == len(o) && &b[0] == &o[0] {
		return true
	}
	if len(b) != len(o) {
		return false
	}
	for i := range b {
		if b[i] != o[i] {
			return false
		}
	}
	return true
}

// Overlaps tells whether the sets have a member in common.
func (b Bits) Overlaps(o Bits) bool {
	for i := range b {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// Empty tells whether there is no member.
func (b Bits) Empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// All yields the members in rising order.
func (b Bits) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 | bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// lowest returns the k lowest members as a set of their own; b has that many.
func (b Bits) lowest(k int) Bits {
	out := make(Bits, len(b))
	for i, w := range b {
		if k == 0 {
			break
		}
		if n := bits.OnesCount64(w); n <= k {
			out[i] = w
			k -= n
			continue
		}
		for ; k > 0; k-- {
			out[i] |= w & -w
			w &= w - 1
		}
	}
	return out
}
