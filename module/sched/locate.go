// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader/idset"
)

// A job whose R can't be read, or names what another job holds, runs somewhere
// all the same. Where, is asked of
//
//  1. job-list, which keeps the ranks of each job from when R was written;
//  2. the job manager, whose sum of all that is allocated, less what the other
//     jobs are known to hold, is what the job holds;
//  3. nobody: then all that is not known to be held is kept from other jobs, as
//     nothing may be given out twice.
//
// The nodes are fenced as a whole until the job's free.

// hunt is the search for some jobs.
type hunt struct {
	open int
	rest []*was // job-list does not know where they are
	then func()
}

func (e *Engine) locate(lost []*was, then func()) {
	h := &hunt{then: then}
	for _, w := range lost {
		h.open++
		e.host.Call("job-list.list-id", `{"id":`+w.id.Decimal()+`,"attrs":["ranks"]}`,
			func(payload string, err error) {
				if e.phase == Stopped {
					return
				}
				h.open--
				if ranks, lerr := listed(payload, err); lerr == nil {
					e.fenceLost(w, ranks)
				} else {
					e.log(Debug, "%s: job-list: %s", w.id, lerr)
					h.rest = append(h.rest, w)
				}
				if h.open == 0 {
					e.locateRest(h)
				}
			})
	}
}

func listed(payload string, err error) (*idset.Set, error) {
	if err != nil {
		return nil, err
	}
	v := gjson.Get(payload, "job.ranks")
	if v.Type != gjson.String || v.Str == "" {
		return nil, errors.New("it does not know the ranks")
	}
	return idset.Parse(v.Str)
}

// locateRest asks for the sum of all allocations, where job-list was no help.
func (e *Engine) locateRest(h *hunt) {
	if len(h.rest) == 0 {
		h.then()
		return
	}
	e.withBooks(func(b *books) {
		var ranks *idset.Set // of what no job is known to hold
		if b.err != nil {
			e.log(Warning, "job-manager.resource-status: %s", b.err)
		} else {
			ranks = b.sum.Difference(e.pool.Held(e.located)).Ranks()
		}
		for _, w := range h.rest {
			a := e.pool.Alloc(w.id)
			if b.err != nil || ranks.Empty() && (a == nil || a.Nodes() == 0 && len(a.Fences) == 0) {
				e.fenceLost(w, e.unheld())
				continue
			}
			e.fenceLost(w, ranks)
		}
		h.then()
	})
}

// unheld returns the ranks of nodes with anything on them that no job is known
// to hold.
func (e *Engine) unheld() *idset.Set {
	return e.pool.All().Set.Difference(e.pool.Held(e.located)).Ranks()
}

// located tells whether what a job holds is known from an R that can be relied
// on. What another one's says, and what is fenced for it, it may have or not: a
// second job without R may be there, and stays when that one ends.
func (e *Engine) located(id jobid.ID) bool {
	w := e.recovery.byID[id]
	return w == nil || !w.lost
}

// fenceLost keeps others off the nodes of a job without a usable R.
func (e *Engine) fenceLost(w *was, ranks *idset.Set) {
	if w.free != nil {
		ranks = ranks.Difference(w.free)
	}
	if a := e.pool.Alloc(w.id); a == nil { // there is no R at all
		if _, err := e.pool.RestoreFenced(w.id, ranks); err != nil {
			e.log(Err, "%s", err)
			return
		}
		e.stats.hello.Jobs++
	} else {
		e.pool.Fence(a, ranks.Difference(e.ranks(a.Fences)))
	}
	why := "there is no R"
	if w.err != nil {
		why = w.err.Error()
	}
	if gone := ranks.Difference(e.pool.Inventory().Ranks()); !gone.Empty() {
		why += fmt.Sprintf("; rank %s is not in the inventory", gone)
	}
	e.doubt(w, why)
}
