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
	if len(r.lost) == 0 {
		e.announce()
		return
	}
	e.enter(Locate)
	e.locate(r.lost, e.announce)
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
	switch {
	case w.err != nil:
	case res.Clash:
		w.err = errors.New(strings.Join(res.Doubts, "; "))
		e.lose(w)
	case len(res.Doubts) > 0:
		e.doubt(w, res.Alloc, res.Doubts...)
	}
}

func (e *Engine) lose(w *was) {
	w.lost = true
	e.recovery.lost = append(e.recovery.lost, w)
}

// doubt counts a job of which something is not as its R says, and warns of it
// once.
func (e *Engine) doubt(w *was, a *resource.Alloc, why ...string) {
	ranks := e.ranks(a.Fences)
	text := fmt.Sprintf("%s: %s", w.id, strings.Join(why, "; "))
	if !ranks.Empty() {
		e.stats.hello.Fenced++
		text += fmt.Sprintf(": nobody else is given anything of rank %s until the job ends", ranks)
	}
	e.stats.warn(text)
	e.log(Warning, "%s", text)
}

func (e *Engine) ranks(nodes []int32) *idset.Set {
	ranks := &idset.Set{}
	for _, i := range nodes {
		ranks.Add(e.pool.Rank(int(i)))
	}
	return ranks
}
