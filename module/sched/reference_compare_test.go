// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"flux-burrow/hooks/jobid"
)

// epoch is the fake's time at the start: times in tables and messages count
// from there.
const epoch = 1e9

// A story is a machine and what happens to it. It is data, so that the same is
// told to several schedulers, and a shorter one can be tried.
type story struct {
	nodes  []refNode
	queues map[string]refQueue
	others refQueue
	match  string
	ends   float64
	runs   []refJob // there before the scheduler
	events []event
}

type event struct {
	what  string
	job   refJob
	pick  int // which of the jobs or nodes that it may be
	value int
	more  bool // what comes next comes in the same turn
}

// told is who is told of events.
type told interface {
	submit(j refJob)
	cancel(id jobid.ID)
	free(id jobid.ID)
	freeNode(id jobid.ID, n int)
	prioritize(id jobid.ID, priority int)
	expire(id jobid.ID, at float64)
	setUp(n int, up bool)
	shrink(n int)
	property(n int, name string, add bool)
	instance(at float64)
	reserve(b refBlock)
	unreserve(name string)
	reload()
}

// side is a scheduler that is told a story.
type side interface {
	told
	// settle delivers all there is at a time, calls passed after each pass, and
	// returns what was started and denied since the last time, in words.
	settle(now float64, passed func()) []string
	// next is when it wants to look again; infinite for never.
	next() float64
}

// world tells a story to a side and to the reference.
type world struct {
	story
	ref    *reference
	side   side
	now    float64
	lastID jobid.ID
	begun  map[jobid.ID]float64
	until  map[jobid.ID]float64 // expiration at the start
	got    []string             // by the reference, in this turn
	starts []string             // by the reference, in short
	log    []string
	// rest is called where both are at rest; shaken tells that since the last
	// time something happened that may move reservations.
	rest   func() error
	shaken bool
}

func (s *story) reference() *reference {
	r := &reference{queues: s.queues, others: s.others, match: s.match, ends: s.ends, now: epoch}
	for _, n := range s.nodes {
		n.props = maps.Clone(n.props)
		r.nodes = append(r.nodes, n)
	}
	for i := range s.runs {
		r.jobs = append(r.jobs, s.runs[i].clone())
	}
	return r
}

func (j refJob) clone() *refJob {
	j.holds, j.fences = maps.Clone(j.holds), maps.Clone(j.fences)
	return &j
}

func newWorld(s story, side side) *world {
	w := &world{story: s, ref: s.reference(), side: side, now: epoch, lastID: 10,
		begun: map[jobid.ID]float64{}, until: map[jobid.ID]float64{}}
	w.say("%+v %v %s, the instance ends at %.0f", s.others, s.queues, s.match, max(0, s.ends-epoch))
	for n, node := range s.nodes {
		w.say("rank %d: %+v up %t whole %t %v", n, node.room, node.up, node.whole, node.props)
	}
	for _, j := range w.ref.jobs {
		w.begun[j.id] = epoch
		w.say("there is %s fences %v", j.text(), j.fences)
	}
	return w
}

// play tells the story. The error is the first difference, after all that
// happened before.
func (w *world) play() error {
	err := w.settle()
	for _, e := range w.events {
		if err != nil {
			break
		}
		w.note(e)
		if e.what == "wait" {
			err = w.wait(float64(e.value))
			continue
		}
		w.tell(e)
		if !e.more {
			err = w.settle()
		}
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		return fmt.Errorf("%s\n%s", strings.Join(w.log, "\n"), err)
	}
	return nil
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%4.0f ", w.now-epoch)+fmt.Sprintf(format, args...))
}

func (w *world) note(e event) {
	if e.what != "wait" {
		return
	}
	w.say("%d seconds pass", e.value)
}

// settle lets the side come to rest; the reference passes whenever it does.
func (w *world) settle() error {
	w.got = nil
	theirs := w.side.settle(w.now, func() {
		for _, j := range w.ref.pass(w.now) {
			w.got = append(w.got, "start "+j.text())
			w.begun[j.id], w.until[j.id] = w.now, j.expiration
			w.starts = append(w.starts, fmt.Sprintf("%d@%.0f:%s", j.id, w.now-epoch, j.ranks()))
		}
	})
	ours := append(w.got, w.ref.denials()...)
	sort.Strings(ours)
	sort.Strings(theirs)
	if !slices.Equal(ours, theirs) {
		return fmt.Errorf("%4.0f reference: %q\n     other:     %q", w.now-epoch, ours, theirs)
	}
	for _, s := range ours {
		w.say("=> %s", s)
	}
	if w.rest == nil {
		return nil
	}
	err := w.rest()
	w.shaken = false
	return err
}

// wait lets time pass, and stops wherever something is due: the end of a job,
// or a moment that one of the two waits for.
func (w *world) wait(d float64) error {
	until := w.now + d
	for range 10_000 {
		w.now = max(w.now, min(until, w.side.next(), w.ref.next(), w.nextEnd()))
		for _, late := range []bool{false, true} {
			for _, j := range slices.Clone(w.ref.jobs) {
				if w.due(j) == w.now && j.late == late {
					w.end(j)
				}
			}
			if err := w.settle(); err != nil {
				return err
			}
		}
		if w.ref.next() <= w.now {
			return fmt.Errorf("%4.0f a pass is due, there is none", w.now-epoch)
		}
		if w.now >= until {
			return nil
		}
	}
	return fmt.Errorf("no rest at %.9f", w.now-epoch)
}

// due is when a job ends by itself.
func (w *world) due(j *refJob) float64 {
	if !j.running || j.lasts == 0 {
		return math.Inf(1)
	}
	return w.begun[j.id] + j.lasts
}

func (w *world) nextEnd() float64 {
	next := math.Inf(1)
	for _, j := range w.ref.jobs {
		if at := w.due(j); at > w.now {
			next = min(next, at)
		}
	}
	return next
}

func (w *world) end(j *refJob) {
	w.say("%d ends", j.id)
	w.side.free(j.id)
	w.ref.free(j.id)
}

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

// whole tells whether all of a job is known: no node is fenced for it.
func known(j *refJob) bool { return j.running && len(j.fences) == 0 && len(j.holds) > 1 }

// tell tells both of an event.
func (w *world) tell(e event) {
	both := []told{w.side, w.ref}
	w.shaken = w.shaken || slices.Contains([]string{"extend", "node", "shrink", "property", "instance", "reload", "reserve"}, e.what)
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
		b := refBlock{name: fmt.Sprint("m", len(w.log)), nodes: map[int]bool{}, made: w.now}
		b.start = w.now + float64(e.value)
		b.end = b.start + 10
		for n := range min(e.pick+1, len(w.nodes)) {
			b.nodes[n] = true
		}
		for _, o := range w.ref.blocks {
			if o.start < b.end && b.start < o.end {
				return // it could be refused
			}
		}
		w.say("%v is reserved from %.0f to %.0f for %s", b.nodes, b.start-epoch, b.end-epoch, b.name)
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
	return s + fmt.Sprintf(" limit %.0f lasts %.0f late %t", j.limit, j.lasts, j.late)
}
