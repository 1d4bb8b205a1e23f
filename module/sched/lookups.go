// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

// lookups reads keys of the KVS, a limited number of them at once.
type lookups struct {
	host  Host
	limit int
	open  int
	wait  []lookup
}

type lookup struct {
	key  string
	done func(value string, err error)
}

func (l *lookups) idle() bool { return l.open == 0 && len(l.wait) == 0 }

func (l *lookups) add(key string, done func(value string, err error)) {
	l.wait = append(l.wait, lookup{key, done})
	l.fill()
}

func (l *lookups) fill() {
	for l.open < l.limit && len(l.wait) > 0 {
		next := l.wait[0]
		l.wait[0] = lookup{}
		l.wait = l.wait[1:]
		l.open++
		l.host.Lookup(next.key, func(value string, err error) {
			l.open--
			l.fill()
			next.done(value, err)
		})
	}
}
