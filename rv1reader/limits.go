// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

// Limits bounds what an R may name. An R of a hundred bytes can name four
// thousand million ranks; what is beyond a limit is refused, never expanded.
// A field that is 0 stands for the default.
type Limits struct {
	MaxRanks  int // ranks in all of R_lite, and host names in nodelist
	MaxIDs    int // ids of one type at one rank
	MaxFaults int // faults, and warnings, that are kept; more are counted
}

// The limits where none are given.
const (
	DefaultMaxRanks  = 1 << 22
	DefaultMaxIDs    = 1 << 22
	DefaultMaxFaults = 64
	MaxTypes         = 256 // types of children in one entry of R_lite; fixed
)

func (l Limits) filled() Limits {
	if l.MaxRanks <= 0 {
		l.MaxRanks = DefaultMaxRanks
	}
	if l.MaxIDs <= 0 {
		l.MaxIDs = DefaultMaxIDs
	}
	if l.MaxFaults <= 0 {
		l.MaxFaults = DefaultMaxFaults
	}
	return l
}
