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
	nodes   []refNode
	queues  map[string]refQueue
	others  refQueue
	match   string
	ends    float64
	overdue bool     // jobs may outlive their limits
	runs    []refJob // there before the scheduler
	events  []event
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
	// deliver brings what was told, with no pass yet.
	deliver()
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
	blocks int // advance reservations so far
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
		if e.what == "wait" || e.what == "reload" {
			if err = w.settle(); err != nil {
				break
			}
		}
		if e.what == "wait" {
			err = w.wait(float64(e.value))
			continue
		}
		w.tell(e)
		if !e.more || e.what == "reload" {
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
		w.now = max(w.now, min(until, w.side.next(), w.ref.next()+0.003, w.nextEnd()))
		for _, late := range []bool{false, true} {
			for _, j := range slices.Clone(w.ref.jobs) {
				if w.due(j) == w.now && (j.late && w.overdue) == late {
					w.end(j)
				}
			}
			if err := w.settle(); err != nil {
				return err
			}
		}
		if w.ref.next() < w.now-0.002 {
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
	at := math.Inf(1)
	if j.running && j.lasts > 0 {
		at = w.begun[j.id] + j.lasts
	}
	if j.running && j.expiration > 0 && !w.overdue {
		at = min(at, j.expiration)
	}
	return at
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
