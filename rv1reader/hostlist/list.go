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
	if l.Len() != o.Len() {
		return false
	}
	a, b := l.list(), o.list()
	var x, y []byte
	for i, j, pos := 0, 0, 0; pos < l.Len(); {
		r, s := &a[i], &b[j]
		end := min(r.start+r.count(), s.start+s.count())
		same := !r.plain && !s.plain && r.prefix == s.prefix && r.suffix == s.suffix && r.width == s.width &&
			r.lo+uint64(pos-r.start) == s.lo+uint64(pos-s.start)
		for ; !same && pos < end; pos++ { // written differently, perhaps the same name
			x, y = r.append(x[:0], pos-r.start), s.append(y[:0], pos-s.start)
			if string(x) != string(y) {
				return false
			}
		}
		if pos = end; r.start+r.count() == pos {
			i++
		}
		if s.start+s.count() == pos {
			j++
		}
	}
	return true
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
