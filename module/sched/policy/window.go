// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"sort"

	"flux-burrow/module/sched/resource"
)

// window is what is free from now until some time, for the whole of it: where
// a job that ends by then may start now.
type window struct {
	end   float64
	state *resource.State
}

// changed tells that reservations or advance reservations are others now.
func (p *Plan) changed() {
	p.windows = nil
	p.starts = p.starts[:0]
	for _, r := range p.list {
		p.starts = append(p.starts, r.Start)
	}
	for i := range p.blocks {
		p.starts = append(p.starts, p.blocks[i].Start)
	}
	sort.Float64s(p.starts)
}

// until returns the window that ends at a time. Where nothing begins before,
// that is the pool itself. Jobs inside an advance reservation have a window of
// their own.
func (p *Plan) until(end float64, inside bool) *resource.State {
	k := sort.SearchFloat64s(p.starts, end)
	if k == 0 {
		return p.pool.State
	}
	if inside {
		return p.newWindow(end, true)
	}
	if w := p.windows[k]; w != nil {
		return w.state
	}
	w := &window{end, p.newWindow(end, false)}
	if p.windows == nil {
		p.windows = map[int]*window{}
	}
	p.windows[k] = w
	return w.state
}

func (p *Plan) newWindow(end float64, inside bool) *resource.State {
	s := p.pool.Clone()
	fill := func(i int) {
		c, g := p.prof.room(i, p.prof.now, end, inside)
		s.Put(i, c, g)
	}
	for _, r := range p.list {
		if r.Start < end && r.End > p.prof.now {
			for _, t := range r.Takes {
				fill(int(t.Node))
			}
		}
	}
	if inside {
		return s
	}
	for i := range p.blocks {
		if b := &p.blocks[i]; b.Start < end && b.End > p.prof.now {
			for node := range b.Nodes.All() {
				fill(node)
			}
		}
	}
	return s
}

// started brings profile and windows up to date with a job that was booked.
func (p *Plan) started(a *resource.Alloc, now float64) {
	if !p.built {
		return
	}
	end := p.end(a, now)
	p.wakeAt(now, end)
	for node, free := range a.Held {
		p.prof.add(node, now, end, step{c: -free[0], g: -free[1]})
		for _, w := range p.windows {
			c, g := p.prof.room(node, now, w.end, false)
			w.state.Put(node, c, g)
		}
	}
}
