// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"slices"
)

// some picks one of the jobs.
func (w *world) some(pick int, want func(*refJob) bool) *refJob {
	var list []*refJob
	for _, j := range w.ref.jobs {
		if want(j) {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[pick%len(list)]
}

func runs(j *refJob) bool  { return j.running }
func waits(j *refJob) bool { return !j.running && !j.denied }

// known tells that a job may let go of a node: it has several, and none is fenced
// for it.
func known(j *refJob) bool { return j.running && len(j.fences) == 0 && len(j.holds) > 1 }

// tell tells both of an event.
func (w *world) tell(e event) {
	defer w.side.deliver()
	both := []told{w.side, w.ref}
	w.shaken = w.shaken || slices.Contains([]string{"extend", "node", "shrink", "property", "instance", "reload", "reserve", "unreserve"}, e.what)
	n := e.pick % len(w.nodes)
	node := &w.ref.nodes[n]
	switch e.what {
	case "submit":
		w.lastID++
		e.job.id = w.lastID
		w.say("%s", e.job.asks())
		for _, s := range both {
			s.submit(e.job)
		}
	case "end":
		if j := w.some(e.pick, runs); j != nil {
			w.end(j)
		}
	case "cancel":
		if j := w.some(e.pick, waits); j != nil {
			w.say("%d is cancelled", j.id)
			for _, s := range both {
				s.cancel(j.id)
			}
		}
	case "priority":
		if j := w.some(e.pick, waits); j != nil {
			w.say("%d has priority %d", j.id, e.value)
			for _, s := range both {
				s.prioritize(j.id, e.value)
			}
		}
	case "extend":
		if j := w.some(e.pick, runs); j != nil {
			if !w.overdue {
				e.value = max(1, e.value)
			}
			at := max(0, w.now+float64(e.value))
			if e.value == 0 {
				at = 0
			}
			w.say("%d expires at %.0f", j.id, at-epoch)
			for _, s := range both {
				s.expire(j.id, at)
			}
		}
	case "part":
		if j := w.some(e.pick, known); j != nil {
			n := slices.Min(slices.Collect(maps.Keys(j.holds)))
			w.say("%d lets go of rank %d", j.id, n)
			for _, s := range both {
				s.freeNode(j.id, n)
			}
		}
	case "node":
		up := !node.up
		if node.gone {
			return
		}
		w.say("rank %d up: %t", n, up)
		for _, s := range both {
			s.setUp(n, up)
		}
	case "shrink":
		if node.gone {
			return
		}
		w.say("rank %d is gone", n)
		for _, s := range both {
			s.shrink(n)
		}
	case "property":
		name := string('a' + rune(e.value%2))
		on := !node.props[name]
		w.say("rank %d %s: %t", n, name, on)
		for _, s := range both {
			s.property(n, name, on)
		}
	case "reserve":
		w.blocks++
		b := refBlock{name: fmt.Sprint("m", w.blocks), nodes: map[int]bool{}, made: w.now, open: e.pick%2 == 0}
		b.start = w.now + float64(e.value)
		b.end = b.start + 10 + 20*float64(e.pick%3)
		for n := range min(e.pick+1, len(w.nodes)) {
			if !w.ref.nodes[n].gone {
				b.nodes[n] = true
			}
		}
		if len(b.nodes) == 0 {
			return
		}
		for _, o := range w.ref.blocks {
			if o.start < b.end && b.start < o.end {
				return // it could be refused
			}
		}
		w.say("%v is reserved from %.0f to %.0f for %s, open %t", b.nodes, b.start-epoch, b.end-epoch, b.name, b.open)
		for _, s := range both {
			s.reserve(b)
		}
	case "unreserve":
		if len(w.ref.blocks) == 0 {
			return
		}
		name := w.ref.blocks[e.pick%len(w.ref.blocks)].name
		w.say("%s is given up", name)
		for _, s := range both {
			s.unreserve(name)
		}
	case "instance":
		at := w.now + float64(e.value)
		w.say("the instance ends at %.0f", at-epoch)
		for _, s := range both {
			s.instance(at)
		}
	case "reload":
		if slices.ContainsFunc(w.ref.nodes, func(n refNode) bool { return n.gone }) {
			return // the fake's inventory is that of the start
		}
		w.say("reload")
		for _, s := range both {
			s.reload()
		}
	default:
		panic(e.what)
	}
}

func (j *refJob) asks() string {
	s := fmt.Sprintf("submit %d priority %d queue %q needs %q: ", j.id, j.priority, j.queue, j.needs)
	if j.nodes > 0 {
		s += fmt.Sprintf("%d nodes of ", j.nodes)
	}
	s += fmt.Sprintf("%d slots of %d cores %d gpus", j.slots, j.cores, j.gpus)
	if j.most > 0 {
		s += fmt.Sprintf(", %d at most", j.most)
	}
	if j.whole {
		s += " exclusive"
	}
	if j.block != "" {
		s += " in " + j.block
	}
	return s + fmt.Sprintf(" limit %.0f lasts %.0f late %t", j.limit, j.lasts, j.late)
}
