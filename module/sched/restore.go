// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader/idset"
)

// restore books what the jobs of the hello hold. They go by id, so that where
// two hold the same the older one has it, whatever the order of the answers.
func (e *Engine) restore() {
	r := e.recovery
	sort.Slice(r.jobs, func(i, j int) bool { return r.jobs[i].id < r.jobs[j].id })
	for _, w := range r.jobs {
		e.restoreOne(w)
	}
	balance := func() { e.balance(e.announce) }
	if len(r.lost) == 0 {
		balance()
		return
	}
	e.enter(Locate)
	e.locate(r.lost, balance)
}

func (e *Engine) restoreOne(w *was) {
	if w.r == nil || w.err != nil {
		e.lose(w)
		if w.r == nil {
			return
		}
	}
	res, err := e.pool.Restore(w.id, e.pool.Inventory().Map(w.r), w.free, w.r.Expiration)
	if err != nil {
		e.log(Err, "%s", err)
		return
	}
	e.stats.hello.Jobs++
	bare := e.fenceBare(w, res.Alloc)
	switch {
	case w.err != nil:
	case res.Clash:
		w.err = errors.New(strings.Join(res.Doubts, "; "))
		e.lose(w)
	case !bare.Empty():
		e.doubt(w, append(res.Doubts, fmt.Sprintf("rank %s: its R names nothing there", bare))...)
	case len(res.Doubts) > 0:
		e.doubt(w, res.Doubts...)
	}
}

// fenceBare fences the ranks that R names without anything on them, and
// returns them: the job is there, with what is not known.
func (e *Engine) fenceBare(w *was, a *resource.Alloc) *idset.Set {
	set := e.pool.Inventory().Set()
	bare := w.r.Ranks.Difference(w.r.Set.Ranks()).Intersect(set.Ranks())
	if w.free != nil {
		bare = bare.Difference(w.free)
	}
	bare = bare.Difference(e.ranks(a.Fences))
	e.pool.Fence(a, bare)
	return bare
}

func (e *Engine) lose(w *was) {
	w.lost = true
	e.recovery.lost = append(e.recovery.lost, w)
}

// doubt notes that something of a job is not as its R says.
func (e *Engine) doubt(w *was, why ...string) {
	if len(w.why) == 0 {
		e.recovery.doubted = append(e.recovery.doubted, w)
	}
	w.why = append(w.why, why...)
}

// warn counts the jobs in doubt and warns of each once, when all is known.
func (e *Engine) warn() {
	r := e.recovery
	for _, w := range r.doubted {
		text := fmt.Sprintf("%s: %s", w.id, strings.Join(w.why, "; "))
		w.why = nil
		if a := e.pool.Alloc(w.id); a != nil && len(a.Fences) > 0 {
			e.stats.hello.Fenced++
			text += fmt.Sprintf(": nobody else is given anything of rank %s until the job ends", e.ranks(a.Fences))
		}
		e.stats.warn(text)
		e.log(Warning, "%s", text)
	}
	r.doubted = nil
}

func (e *Engine) ranks(nodes []int32) *idset.Set {
	ranks := &idset.Set{}
	for _, i := range nodes {
		ranks.Add(e.pool.Rank(int(i)))
	}
	return ranks
}
