// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"
	"math"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// The R of a running job can be well formed and name less than the job holds.
// The job manager has an R of each job in memory and keeps its books by that.
// So when R came out of the KVS, the sum of all that is allocated is asked for
// once, and if some of it is in no job's R, the job manager is asked whose it
// is, job by job, until all of it is explained. With R out of the job manager's
// memory the two are the same, and nothing is asked.

var errNothing = errors.New("its R names no cores or gpus")

// readR reads the R of a running job. An R that names nothing is a good one for
// flux-core and for rv1reader, as R is also used for sums; that no job runs on
// nothing is known here.
func readR(text string) (*rv1reader.R, error) {
	r, err := rv1reader.Read([]byte(text))
	if err != nil {
		return r, fmt.Errorf("its R can't be read: %s", oneLine(err))
	}
	if r.Set.CountType("core") == 0 && r.Set.CountType("gpu") == 0 {
		return r, errNothing
	}
	return r, nil
}

// books is what the job manager has as allocated.
type books struct {
	known bool
	sum   *rv1reader.ResourceSet
	err   error
	wait  []func(*books)
}

// askBooks asks for the books, once in a recovery. That takes the job manager a
// while where many jobs run, so it is done as soon as the hello has named all
// of them: earlier, a job that ends before the hello would be in the books only.
func (e *Engine) askBooks() {
	if e.recovery.books != nil {
		return
	}
	b := &books{}
	e.recovery.books = b
	e.host.Call("job-manager.resource-status", "", func(payload string, err error) {
		if e.phase == Stopped {
			return
		}
		if err == nil {
			var r *rv1reader.R
			r, err = rv1reader.Read([]byte(gjson.Get(payload, "allocated").Raw))
			b.sum = r.Set
		}
		b.known, b.err = true, err
		for _, f := range b.wait {
			f(b)
		}
	})
}

func (e *Engine) withBooks(then func(*books)) {
	e.askBooks()
	if b := e.recovery.books; b.known {
		then(b)
	} else {
		b.wait = append(b.wait, then)
	}
}

// nobody stands for the holder of what no job of the hello has.
const nobody = jobid.ID(math.MaxUint64)

// audit is the search for the holders of what is in the books and in no R.
type audit struct {
	over   *rv1reader.ResourceSet // not explained so far
	wait   []*was                 // not yet asked about
	open   int
	unread []*was // the job manager has no R of theirs to show
	then   func()
}

// balance fences what jobs hold by the job manager's books and not by their R.
// Jobs that ended since the hello are in neither, or are freed after the second
// hello.
func (e *Engine) balance(then func()) {
	var jobs, later []*was
	fromKVS := false
	for _, w := range e.recovery.jobs {
		fromKVS = fromKVS || w.fromKVS || w.r == nil
		// What is fenced is most likely to explain a difference.
		if a := e.pool.Alloc(w.id); a != nil && len(a.Fences) > 0 {
			jobs = append(jobs, w)
		} else {
			later = append(later, w)
		}
	}
	if !fromKVS {
		then()
		return
	}
	if e.phase < Locate {
		e.enter(Locate)
	}
	e.withBooks(func(b *books) {
		if b.err != nil {
			e.log(Debug, "job-manager.resource-status: %s: can't tell whether each R names all that its job holds", b.err)
			then()
			return
		}
		all := e.pool.Held(func(jobid.ID) bool { return true })
		// Of ranks that are not in the inventory nothing can be given out.
		over := coresAndGPUs(b.sum.Intersect(e.pool.Inventory().Set()).Difference(all))
		e.ask(&audit{over: over, wait: append(jobs, later...), then: then})
	})
}

func coresAndGPUs(s *rv1reader.ResourceSet) *rv1reader.ResourceSet {
	var groups []rv1reader.Group
	for _, g := range s.Groups() {
		if c := rv1reader.CoresGPUs(g.Children.Cores(), g.Children.GPUs()); len(c) > 0 {
			groups = append(groups, rv1reader.Group{Ranks: g.Ranks, Children: c})
		}
	}
	return rv1reader.NewResourceSet(groups...)
}

// ask goes on until all is explained or all jobs were asked about.
func (e *Engine) ask(a *audit) {
	for a.open < inFlight && len(a.wait) > 0 && !a.over.Empty() {
		w := a.wait[0]
		a.wait = a.wait[1:]
		a.open++
		e.host.Call("job-manager.getattr", `{"id":`+w.id.Decimal()+`,"attrs":["R"]}`, func(payload string, err error) {
			if e.phase == Stopped {
				return
			}
			a.open--
			e.explain(a, w, payload, err)
			e.ask(a)
		})
	}
	if a.open == 0 {
		e.unexplained(a)
		a.then()
	}
}

// explain takes the R that the job manager has of a job.
func (e *Engine) explain(a *audit, w *was, payload string, err error) {
	var r *rv1reader.R
	if err == nil {
		r, err = rv1reader.Read([]byte(gjson.Get(payload, "R").Raw))
	}
	if err != nil {
		e.log(Debug, "job-manager.getattr: %s: %s", w.id, err)
		a.unread = append(a.unread, w)
		return
	}
	part := r.Set.Intersect(a.over)
	if w.free != nil {
		part = part.RemoveRanks(w.free)
	}
	a.over = a.over.Difference(part)
	if ranks := e.fenceMore(w, part.Ranks()); !ranks.Empty() {
		e.doubt(w, fmt.Sprintf("its R names less of rank %s than it was given", ranks))
	}
}

// unexplained fences what is allocated and nobody's: for each job that it may
// belong to until that job's free, as of several it can't be told which has it.
// If all jobs were told of, it is that of a job that the hello did not name:
// the second hello does, or it ended.
func (e *Engine) unexplained(a *audit) {
	ranks := a.over.Ranks()
	for _, w := range a.unread { // what is fenced for them is taken to be theirs
		if held := e.pool.Alloc(w.id); held != nil {
			ranks = ranks.Difference(e.ranks(held.Fences))
		}
	}
	if ranks.Empty() {
		return
	}
	if len(a.unread) == 0 {
		if _, err := e.pool.RestoreFenced(nobody, ranks); err == nil {
			e.log(Info, "rank %s is allocated to no job that the job manager named: kept until it has named all again", ranks)
		}
		return
	}
	names := a.unread[0].id.String()
	if n := len(a.unread); n > 1 {
		names += fmt.Sprintf(" and %d other jobs", n-1)
	}
	for _, w := range a.unread {
		if !e.fenceMore(w, ranks).Empty() && len(w.why) == 0 { // else it is counted when it is told of
			e.stats.hello.Fenced++
		}
	}
	text := fmt.Sprintf("rank %s: more is allocated than the R of all jobs name, and whose it is can't be told: "+
		"nobody is given anything of it until the end of %s", ranks, names)
	e.stats.warn(text)
	e.log(Warning, "%s", text)
}

// fenceMore fences ranks for a job, and returns those that were not before.
func (e *Engine) fenceMore(w *was, ranks *idset.Set) *idset.Set {
	a := e.pool.Alloc(w.id)
	if a == nil {
		return &idset.Set{}
	}
	ranks = ranks.Difference(e.ranks(a.Fences))
	e.pool.Fence(a, ranks)
	return ranks
}
