// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
)

// announce tells the job manager that it may send jobs (RFC 27, Ready).
func (e *Engine) announce() {
	e.enter(Announce)
	if e.awaitReservations(e.announce) {
		return
	}
	e.warn()
	e.host.Call("job-manager.sched-ready", readyMode(e.config.QueueDepth), func(payload string, err error) {
		if e.phase == Stopped {
			return
		}
		if err != nil {
			e.fail("job-manager.sched-ready", err)
			return
		}
		e.onReady(gjson.Get(payload, "count").Int())
	})
}

func readyMode(depth int) string {
	if depth == 0 {
		return `{"mode":"unlimited"}`
	}
	return fmt.Sprintf(`{"mode":"limited","limit":%d}`, depth)
}

func (e *Engine) onReady(waiting int64) {
	e.enter(Ready)
	r := e.recovery
	e.stats.recovered(time.Since(r.begin), !r.noHooks)
	h := &e.stats.hello
	e.log(Info, "ready: policy=%s match=%s queue-depth=%s: %d jobs recovered, %d of them with fenced nodes, %d waiting, in %.3fs",
		e.config.Policy, e.config.Match, limitText(e.config.QueueDepth), h.Jobs, h.Fenced, waiting, h.Total)
	e.answerStats()
	e.nextReserve()
	e.helloAgain()
	e.readExpirations()
	e.loosen()
}

// secondHello is the set of jobs that have resources once the job manager
// sends frees.
type secondHello struct {
	seen  map[jobid.ID]*was
	freed map[jobid.ID]bool // frees that came while the stream was open
}

// helloAgain finds jobs that ended between the first hello and ready, of which
// the job manager told nobody. It does not change the job manager's state.
func (e *Engine) helloAgain() {
	again := &secondHello{seen: map[jobid.ID]*was{}, freed: map[jobid.ID]bool{}}
	e.again = again
	e.host.Stream("job-manager.sched-hello", `{"partial-ok":true}`, func(payload string, err error) {
		switch {
		case e.phase == Stopped || e.again != again:
		case errnoIs(err, syscall.ENODATA):
			e.again = nil
			e.compare(again)
		case err != nil:
			e.again = nil
			e.pool.Free(nobody)
			e.log(Err, "job-manager.sched-hello: %s: jobs that ended while the scheduler was not ready may keep their resources", err)
		default:
			w, err := readHello(payload)
			if err != nil {
				e.log(Err, "job-manager.sched-hello: %s", err)
				return
			}
			again.seen[w.id] = w
		}
	})
}

// compare frees what the second hello does not have any more.
func (e *Engine) compare(again *secondHello) {
	e.finishPass()
	h := &e.stats.hello
	for _, first := range e.recovery.jobs {
		now := again.seen[first.id]
		if now != nil {
			if a := e.pool.Alloc(first.id); a != nil && now.free != nil {
				h.LostRanks += e.pool.FreeRanks(first.id, now.free)
			}
			continue
		}
		if nodes, known := e.pool.Free(first.id); known {
			h.Lost++
			e.log(Debug, "%s ended before the scheduler was ready: freeing %d nodes", first.id, nodes)
		}
	}
	if h.Lost > 0 || h.LostRanks > 0 {
		e.log(Info, "freed %d jobs and %d nodes of other jobs that were let go before the scheduler was ready", h.Lost, h.LostRanks)
	}
	var late []*was
	for id, w := range again.seen {
		if e.pool.Alloc(id) == nil && e.recovery.byID[id] == nil && !again.freed[id] {
			late = append(late, w)
		}
	}
	e.restoreLate(late)
}

// restoreLate takes in jobs that only the second hello named: an answer of the
// scheduler before this one that came after the first.
func (e *Engine) restoreLate(late []*was) {
	r := e.recovery
	open := 1
	done := func() {
		if open--; open == 0 {
			e.pool.Free(nobody)
		}
		e.warn()
		e.loosen()
	}
	for _, w := range late {
		open++
		e.stats.hello.Late++
		e.log(Warning, "%s got resources from another scheduler while this one was starting", w.id)
		r.byID[w.id] = w
		r.jobs = append(r.jobs, w)
		r.look.add(w.id.Key("R"), func(value string, err error) {
			if e.phase == Stopped {
				return
			}
			w.take(value, err)
			r.lost = nil
			e.finishPass()
			e.restoreOne(w)
			if len(r.lost) == 0 {
				done()
				return
			}
			r.books = nil // they are older than this job
			e.locate(r.lost, done)
		})
	}
	done()
}

// readExpirations brings the ends of jobs up to date whose R came from the KVS:
// an extension is an event in the job's eventlog (RFC 21, resource-update). It
// does not keep ready waiting, as what a job holds does not depend on it; until
// it is done, plans are made with the earlier end.
func (e *Engine) readExpirations() {
	r := e.recovery
	for _, w := range r.jobs {
		if w.r == nil || !w.fromKVS {
			continue
		}
		r.look.add(w.id.Key("eventlog"), func(value string, err error) {
			if e.phase == Stopped || !w.fromKVS || err != nil {
				return
			}
			a := e.pool.Alloc(w.id)
			if at, ok := lastExpiration(value); ok && a != nil {
				e.finishPass()
				a.Expiration = at
				e.loosen()
			}
		})
	}
	for _, w := range r.jobs {
		w.r = nil // not needed any more
	}
}

// settled tells that a job's expiration was set by request: what its eventlog
// says is older.
func (r *recovery) settled(id jobid.ID) {
	if r == nil {
		return
	}
	if w := r.byID[id]; w != nil {
		w.fromKVS = false
	}
}

// lastExpiration finds the last expiration that an eventlog sets.
func lastExpiration(eventlog string) (at float64, ok bool) {
	if !strings.Contains(eventlog, "resource-update") {
		return 0, false
	}
	for line := range strings.Lines(eventlog) {
		if !gjson.Valid(line) || gjson.Get(line, "name").Str != "resource-update" {
			continue
		}
		if v := gjson.Get(line, "context.expiration"); v.Type == gjson.Number && v.Num >= 0 {
			at, ok = v.Num, true
		}
	}
	return at, ok
}
