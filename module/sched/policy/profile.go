// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"math"
	"slices"
	"sort"

	"flux-burrow/module/sched/resource"
)

// step is what a node has from one time on, until the next step.
type step struct {
	at     float64
	c, g   int32 // free cores and gpus
	fences int16 // jobs in doubt that keep all others off
	blocks int16 // advance reservations
}

// profile is what is free on each node from now on, as far as that is known:
// running jobs hold what they have until their ends, and what waiting jobs have
// reserved is theirs from its beginning to its end.
type profile struct {
	pool  *resource.Pool
	now   float64
	steps [][]step
	times []float64 // of all steps, rising, now first; some may be left over
}

func (p *profile) reset(pool *resource.Pool, now float64) {
	p.pool, p.now = pool, now
	if len(p.steps) != pool.Len() {
		p.steps = make([][]step, pool.Len())
	}
	for i := range p.steps {
		c, g := pool.FreeOn(i)
		p.steps[i] = append(p.steps[i][:0], step{at: now, c: c, g: g, fences: int16(pool.FencesOn(i))})
	}
	p.times = append(p.times[:0], now)
}

// copyOf makes p the same as o, in memory of its own.
func (p *profile) copyOf(o *profile) {
	p.pool, p.now = o.pool, o.now
	p.times = append(p.times[:0], o.times...)
	size := 0
	for _, s := range o.steps {
		size += len(s)
	}
	back := make([]step, 0, size)
	p.steps = make([][]step, len(o.steps))
	for i, s := range o.steps {
		at := len(back)
		back = append(back, s...)
		p.steps[i] = back[at:len(back):len(back)]
	}
}

// add changes what a node has between two times by d; to may be infinite.
func (p *profile) add(i int, from, to float64, d step) {
	from = math.Max(from, p.now)
	if to <= from {
		return
	}
	k := p.cut(i, from)
	end := len(p.steps[i])
	if !math.IsInf(to, 1) {
		end = p.cut(i, to)
	}
	for s := p.steps[i]; k < end; k++ {
		s[k].c += d.c
		s[k].g += d.g
		s[k].fences += d.fences
		s[k].blocks += d.blocks
	}
}

// cut returns the index of the step of a node that begins at a time, which it
// makes if there is none.
func (p *profile) cut(i int, at float64) int {
	s := p.steps[i]
	k := len(s)
	for k > 0 && s[k-1].at > at {
		k--
	}
	if k > 0 && s[k-1].at == at {
		return k - 1
	}
	next := s[k-1]
	next.at = at
	p.steps[i] = slices.Insert(s, k, next)
	p.mark(at)
	return k
}

// join drops the steps of a node at which nothing changes.
func (p *profile) join(i int) {
	s := p.steps[i]
	n := 1
	for k := 1; k < len(s); k++ {
		same := s[n-1]
		same.at = s[k].at
		if same != s[k] {
			s[n] = s[k]
			n++
		}
	}
	p.steps[i] = s[:n]
}

// mark notes a time at which something may change.
func (p *profile) mark(at float64) {
	if n := len(p.times); p.times[n-1] < at {
		p.times = append(p.times, at)
		return
	}
	if k, found := slices.BinarySearch(p.times, at); !found {
		p.times = slices.Insert(p.times, k, at)
	}
}

// index returns the position of the first time that is not before at.
func (p *profile) index(at float64) int { return sort.SearchFloat64s(p.times, at) }

// room returns what is free on a node for the whole of a stretch of time. The
// blocks of advance reservations do not count for jobs that are inside one.
func (p *profile) room(i int, from, to float64, inside bool) (c, g int32) {
	s := p.steps[i]
	k := len(s) - 1
	for k > 0 && s[k].at > from {
		k--
	}
	c, g = math.MaxInt32, math.MaxInt32
	for first := true; k < len(s) && (first || s[k].at < to); k++ {
		first = false
		if s[k].fences > 0 || s[k].blocks > 0 && !inside {
			return 0, 0
		}
		c, g = min(c, s[k].c), min(g, s[k].g)
	}
	return c, g
}
