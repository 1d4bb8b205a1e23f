// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"strconv"
	"strings"
)

// run is prefix + number + suffix for each number lo..hi, the number padded
// with zeros to width. A run without numbers (plain) is the one name prefix.
type run struct {
	prefix, suffix string
	lo, hi         uint64
	width          int
	start          int // position of its first host in the list
	plain          bool
}

func (r *run) count() int {
	if r.plain {
		return 1
	}
	return int(r.hi-r.lo) + 1
}

// bracketed tells whether the names may stand in a bracket: as in flux-core,
// the number has to be at the end.
func (r *run) bracketed() bool { return !r.plain && r.suffix == "" }

func (r *run) append(b []byte, i int) []byte {
	b = append(b, r.prefix...)
	if r.plain {
		return b
	}
	return append(appendPadded(b, r.lo+uint64(i), r.width), r.suffix...)
}

func appendPadded(b []byte, n uint64, width int) []byte {
	for d := digits(n); d < width; d++ {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, n, 10)
}

func digits(n uint64) int {
	d := 1
	for ; n > 9; n /= 10 {
		d++
	}
	return d
}

// hostRun returns the run of one name given in full.
func hostRun(name string) run {
	i := len(name)
	for i > 0 && isDigit(name[i-1]) {
		i--
	}
	n, err := strconv.ParseUint(name[i:], 10, 64)
	if err != nil { // no number, or one too large to count with
		return run{prefix: name, plain: true}
	}
	return run{prefix: name[:i], lo: n, hi: n, width: len(name) - i}
}

// commonWidth returns the width that writes both numbers as their own widths
// do, if there is one. 9 and 10 go together, 09 and 10, but not 9 and 010.
func commonWidth(n uint64, wn int, m uint64, wm int) (int, bool) {
	pad := func(n uint64, w int) int { return max(0, w-digits(n)) }
	switch {
	case wn == wm || pad(m, wm) == pad(m, wn):
		return wn, true
	case pad(n, wn) == pad(n, wm):
		return wm, true
	}
	return 0, false
}

// follows gives the width to use if the hosts of b directly continue a.
func (r *run) follows(b *run) (width int, ok bool) {
	if !r.bracketed() || !b.bracketed() || r.hi != b.lo-1 || b.lo == 0 || r.prefix != b.prefix {
		return 0, false
	}
	return commonWidth(r.lo, r.width, b.lo, b.width)
}

// find returns the place in the run of a host name, or -1.
func (r *run) find(name string) int {
	if r.plain {
		if name == r.prefix {
			return 0
		}
		return -1
	}
	if len(name) <= len(r.prefix)+len(r.suffix) ||
		!strings.HasPrefix(name, r.prefix) || !strings.HasSuffix(name, r.suffix) {
		return -1
	}
	num := name[len(r.prefix) : len(name)-len(r.suffix)]
	if !isDigit(num[0]) { // ParseUint would take a sign
		return -1
	}
	n, err := strconv.ParseUint(num, 10, 64)
	if err != nil || n < r.lo || n > r.hi || len(num) != max(r.width, digits(n)) {
		return -1
	}
	return int(n - r.lo)
}
