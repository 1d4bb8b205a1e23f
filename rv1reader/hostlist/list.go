// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"iter"
	"sort"
	"strings"

	"flux-burrow/rv1reader/idset"
)

// List is a list of host names. See the package comment for the rules of its
// use.
type List struct {
	runs []run
	n    int
}

// Len returns the number of hosts, repeats counted.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return l.n
}

func (l *List) list() []run {
	if l == nil {
		return nil
	}
	return l.runs
}

// at returns the index of the run that holds position i, 0 <= i < Len.
func (l *List) at(i int) int {
	if i < 0 || i >= l.Len() {
		panic("hostlist: position out of range")
	}
	return sort.Search(len(l.runs), func(k int) bool { return l.runs[k].start > i }) - 1
}

// At returns the host at position i. It panics unless 0 <= i < Len().
func (l *List) At(i int) string { return string(l.AppendAt(nil, i)) }

// AppendAt appends the host at position i to b: At without the string.
func (l *List) AppendAt(b []byte, i int) []byte {
	r := &l.runs[l.at(i)]
	return r.append(b, i-r.start)
}

// Index returns the first position of a host, or -1 if the list has not got
// it. It costs the number of runs.
func (l *List) Index(host string) int {
	for i, r := range l.list() {
		if k := l.runs[i].find(host); k >= 0 {
			return r.start + k
		}
	}
	return -1
}

// All yields positions and hosts in order. The list must not be changed
// meanwhile.
func (l *List) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var buf []byte
		for _, r := range l.list() {
			for k := range r.count() {
				buf = r.append(buf[:0], k)
				if !yield(r.start+k, string(buf)) {
					return
				}
			}
		}
	}
}

// NumRuns returns the number of runs: what the list costs in memory.
func (l *List) NumRuns() int { return len(l.list()) }

func (l *List) push(r run) {
	r.start = l.n
	l.n += r.count()
	if k := len(l.runs); k > 0 {
		if w, ok := l.runs[k-1].follows(&r); ok {
			l.runs[k-1].hi, l.runs[k-1].width = r.hi, w
			return
		}
	}
	l.runs = append(l.runs, r)
}

// AppendHost puts one host name at the end. The name is taken as it is.
func (l *List) AppendHost(name string) { l.push(hostRun(name)) }

// AppendList puts the hosts of o at the end.
func (l *List) AppendList(o *List) {
	for _, r := range o.list() {
		l.push(r)
	}
}

// Append puts the hosts of a hostlist string at the end, or changes nothing
// and returns Parse's error. The whole list stays within MaxHosts.
func (l *List) Append(hosts string) error {
	o, err := ParseMax(hosts, MaxHosts-l.n)
	if err != nil {
		return err
	}
	l.AppendList(o)
	return nil
}

// Clone returns a copy that shares nothing with l that could change.
func (l *List) Clone() *List {
	return &List{append([]run(nil), l.list()...), l.Len()}
}

// Slice returns a new list of the hosts at the given positions. Positions past
// the end are passed over.
func (l *List) Slice(positions *idset.Set) *List {
	out := &List{}
	for p := range positions.Runs() {
		if p.Lo >= l.Len() {
			break
		}
		p.Hi = min(p.Hi, l.Len()-1)
		for k := l.at(p.Lo); k < len(l.runs) && l.runs[k].start <= p.Hi; k++ {
			r := l.runs[k]
			if !r.plain {
				lo := r.lo + uint64(max(p.Lo-r.start, 0))
				r.hi = r.lo + uint64(min(r.count()-1, p.Hi-r.start)) // no overflow: hi may be the largest number
				r.lo = lo
			}
			out.push(r)
		}
	}
	return out
}

// Equal tells whether both lists name the same hosts in the same order.
func (l *List) Equal(o *List) bool {
	return l.Len() == o.Len() && l.Common(0, o, 0, l.Len()) == l.Len()
}

// Common returns how many hosts from position i on are the same as those of o
// from position j on, at most n. It costs the runs, not the hosts, where the
// same hosts are written the same way. It panics if one list has fewer than n.
func (l *List) Common(i int, o *List, j, n int) int {
	var xb, yb [64]byte // long enough for most names: no allocation per host
	x, y := xb[:0], yb[:0]
	for k := 0; k < n; {
		r, s := &l.runs[l.at(i+k)], &o.runs[o.at(j+k)]
		a, b := i+k-r.start, j+k-s.start
		m := min(r.count()-a, s.count()-b, n-k)
		if !r.plain && !s.plain && r.prefix == s.prefix && r.suffix == s.suffix &&
			r.width == s.width && r.lo+uint64(a) == s.lo+uint64(b) {
			k += m
			continue
		}
		for end := k + m; k < end; k++ { // written differently, perhaps the same name
			x, y = r.append(x[:0], a), s.append(y[:0], b)
			if string(x) != string(y) {
				return k
			}
			a, b = a+1, b+1
		}
	}
	return n
}

// Bracketed tells whether any name has a bracket in it, which is legal in no
// host name: flux-core expands the first bracket of a name and keeps others as
// they are. Such a list does not survive being written and read.
func (l *List) Bracketed() bool {
	for _, r := range l.list() {
		if strings.ContainsAny(r.prefix, "[]") || strings.ContainsAny(r.suffix, "[]") {
			return true
		}
	}
	return false
}
