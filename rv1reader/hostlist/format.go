// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import "math"

// String returns the list as flux-core writes it: neighbours of the same
// prefix share a bracket, `node[08-11,20]`; names with anything after the
// number stand alone. Its length follows the hosts where there are suffixes,
// otherwise the runs.
func (l *List) String() string {
	b, _ := l.AppendText(nil)
	return string(b)
}

// MarshalText gives the form of String.
func (l *List) MarshalText() ([]byte, error) { return l.AppendText(nil) }

// AppendText appends the form of String to b. The error is always nil.
func (l *List) AppendText(b []byte) ([]byte, error) { return l.appendUpTo(b, math.MaxInt), nil }

// Brief is String for messages: what is longer than size bytes is cut, "..."
// follows. It costs the runs and size, whatever the number of hosts.
func (l *List) Brief(size int) string {
	b := l.appendUpTo(nil, size)
	if len(b) > size {
		return string(b[:size]) + "..."
	}
	return string(b)
}

// appendUpTo stops once b is longer than limit.
func (l *List) appendUpTo(b []byte, limit int) []byte {
	runs := l.list()
	for i := 0; i < len(runs) && len(b) <= limit; {
		if i > 0 {
			b = append(b, ',')
		}
		j := i + 1
		if runs[i].bracketed() {
			for j < len(runs) && runs[j].bracketed() && runs[j].prefix == runs[i].prefix {
				j++
			}
			b = appendBracket(b, runs[i:j])
		} else {
			b = appendNames(b, &runs[i], limit)
		}
		i = j
	}
	return b
}

func appendNames(b []byte, r *run, limit int) []byte {
	for k := range r.count() {
		if len(b) > limit {
			break
		}
		if k > 0 {
			b = append(b, ',')
		}
		b = r.append(b, k)
	}
	return b
}

func appendBracket(b []byte, runs []run) []byte {
	if len(runs) == 1 && runs[0].count() == 1 {
		return runs[0].append(b, 0)
	}
	b = append(append(b, runs[0].prefix...), '[')
	for i, r := range runs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPadded(b, r.lo, r.width)
		if r.hi > r.lo {
			b = appendPadded(append(b, '-'), r.hi, r.width)
		}
	}
	return append(b, ']')
}
