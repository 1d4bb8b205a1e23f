// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks"
	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/module/agent"
	"flux-burrow/rv1reader/idset"
)

// An heir ends the holds of a job after the plugin that took them was removed.
// It lives on the job manager's handle, which outlives the plugin, as the code
// does (an object of Go's is never unmapped). Without the plugin there is no
// jobtap call left, so it has the job manager post the events. It ends when
// that is done, when the plugin is loaded again, which goes on from the job's
// eventlog, or with the handle.
type heir struct {
	*host
	hooks.Legacy
	tree  *agent.Tree
	limit time.Duration
	// patient: it has waited for agents that may have been reloaded.
	patient bool
}

const (
	heirAgain = time.Second
	heirLimit = 30 * time.Second
)

// heirs are those that live, of all handles of the process.
var heirs struct {
	sync.Mutex
	list []*heir
}

// Inherit implements hooks.Inheritor.
func (j *jobtap) Inherit(l hooks.Legacy) bool {
	// A job manager that is itself at its end knows no jobs: then the hold
	// stays, in the job's eventlog, for the next load.
	if _, err := j.p.JobLookup(l.ID); err != nil {
		return false
	}
	o, err := newHost(j.h)
	if err != nil {
		return false
	}
	e := &heir{host: o, Legacy: l, tree: j.tree, limit: j.limit}
	if err := j.h.OnDestroy(fmt.Sprintf("burrow::heir-%d", l.ID), e.end); err != nil {
		e.close()
		return false
	}
	heirs.Lock()
	heirs.list = append(heirs.list, e)
	heirs.Unlock()
	start := e.ask
	if l.Unread {
		start = func() { e.After(hooks.CommitWait, e.look) }
	}
	if e.tree != nil {
		start()
		return true
	}
	size := j.size
	o.topology(int(size), 0, func(t *agent.Tree) {
		e.tree = t
		start()
	})
	return true
}

// disinherit ends the heirs of a handle.
func disinherit(h *flux.Handle) {
	heirs.Lock()
	list := heirs.list
	heirs.Unlock()
	for _, e := range list {
		if e.h.Same(h) {
			e.end()
		}
	}
}

func (e *heir) end() {
	heirs.Lock()
	for i, o := range heirs.list {
		if o == e {
			heirs.list = append(heirs.list[:i:i], heirs.list[i+1:]...)
			break
		}
	}
	heirs.Unlock()
	if !e.closed {
		e.close()
	}
}

// ask wishes, or repeats a wish that the nodes know already, for its answer.
func (e *heir) ask() {
	if e.Gen == 0 {
		e.generation(e.ask)
		return
	}
	need := wire.Need{ID: e.ID, Phase: phase.Run, Gen: e.Gen}
	e.set(wire.SetRequest{Ranks: e.Ranks, Need: need}, func(r wire.SetResponse) {
		r.Failed = e.Failed(r.Failed)
		switch {
		case r.FailedRanks().Count() > e.Tolerate && !e.patient && reloading(r.Failed):
			e.patient = true
			e.After(hooks.ReloadGrace, e.look)
		case r.FailedRanks().Count() > e.Tolerate:
			e.raise(fmt.Sprintf("services not as run wants them on rank %s: %s", r.Failed[0].Ranks, r.Failed[0].Reason))
		case !r.Waiting.Empty():
			e.endOthers(r.Waiting)
			e.After(heirAgain, e.look)
		default:
			e.finish("prolog", 0, e.end)
		}
	})
}

// reloading tells whether all that failed may only be reloading its agent.
func reloading(failed []wire.RankText) bool {
	return !slices.ContainsFunc(failed, func(f wire.RankText) bool { return f.Reason != wire.NotLoaded })
}

func (e *heir) set(req wire.SetRequest, done func(wire.SetResponse)) {
	agent.SetBelow(e.host, pluginName, e.tree, e.limit, req, nil, nil, func(r wire.SetResponse) {
		if !e.closed {
			done(r)
		}
	})
}

// look reads the job's eventlog for what is to be done next.
func (e *heir) look() {
	e.eventlog(e.ID, func(text string, err error) {
		if errors.Is(err, syscall.ENOENT) {
			e.end() // it is over and purged
			return
		}
		if err != nil {
			e.Log(flux.LogErr, "job %s: can't read its eventlog: %v", jobid.ID(e.ID), err)
			e.After(heirAgain, e.look)
			return
		}
		due := e.Due(text)
		next := e.end
		switch {
		case due.Later:
			next = func() { e.After(heirAgain, e.look) }
		case due.Wait:
			next = e.ask
		case due.Prolog:
			next = func() { e.finish("prolog", due.Status, e.end) }
		}
		if due.Epilog {
			e.finish("epilog", 0, next)
			return
		}
		next()
	})
}

// endOthers ends the needs of other jobs on ranks, for whose services the
// job waits, once they have none: the nodes were told to the last by a plugin
// that is gone.
func (e *heir) endOthers(ranks *idset.Set) {
	others := map[uint64]wire.SetRequest{}
	s := &agent.Spread{
		Host:    e.host,
		Topic:   pluginName + ".status",
		Limit:   e.limit,
		Payload: func(ranks *idset.Set) string { return wire.Encode(wire.StatusRequest{Ranks: ranks}) },
		Answer: func(payload string) error {
			var r wire.StatusResponse
			if err := wire.Decode(payload, &r, "nodes", "failed"); err != nil {
				return err
			}
			for _, n := range r.Nodes {
				for _, need := range n.Needs {
					if need.ID == e.ID || need.Phase == phase.Run {
						continue
					}
					o := others[need.ID]
					o.Ranks = n.Ranks.Union(o.Ranks)
					o.Need = wire.Need{ID: need.ID, Phase: phase.Idle, Gen: max(o.Gen, need.Gen+1)}
					others[need.ID] = o
				}
			}
			return nil
		},
		Failed: func(*idset.Set, string) {},
	}
	s.Down([]*agent.Tree{e.tree}, ranks, func() {
		for _, id := range slices.Sorted(maps.Keys(others)) {
			o := others[id]
			e.eventlog(id, func(text string, err error) {
				if errors.Is(err, syscall.ENOENT) || err == nil && !hooks.NeedsServices(text) {
					e.set(o, func(wire.SetResponse) {})
				}
			})
		}
	})
}

func (e *heir) eventlog(id uint64, done func(string, error)) {
	if e.closed {
		return
	}
	key, err := flux.JobKey(id, "eventlog")
	if err != nil {
		e.After(0, func() { done("", err) })
		return
	}
	e.lookup(key, func(text string, err error) {
		if !e.closed {
			done(text, err)
		}
	})
}

// generation takes one above all that were given, where the plugin was removed
// before it knew them.
func (e *heir) generation(done func()) {
	e.lookup(hooks.Bound, func(value string, err error) {
		if e.closed {
			return
		}
		if value != "" && err == nil {
			err = json.Unmarshal([]byte(value), &e.Gen)
		}
		e.Gen = max(e.Gen+1, uint64(max(e.Now().UnixMicro(), 1)))
		if err == nil {
			err = e.store(hooks.Bound, wire.Encode(e.Gen+hooks.BoundStep))
		}
		if err != nil {
			e.Log(flux.LogErr, "%s: %v: the clock alone tells what is new", hooks.Bound, err)
		}
		done()
	})
}

func (e *heir) raise(note string) {
	payload, _ := json.Marshal(map[string]any{"id": e.ID, "severity": 0, "type": "burrow-services", "note": note})
	e.Call(flux.NodeAny, "job-manager.raise", string(payload), heirLimit, func(_ string, err error) {
		if err != nil {
			e.Log(flux.LogErr, "job %s: can't raise an exception (%s): %v", jobid.ID(e.ID), note, err)
		}
		e.finish("prolog", 1, e.end)
	})
}

// finish ends a hold: what is prolog or epilog.
func (e *heir) finish(what string, status int, done func()) {
	name := hooks.PrologName
	if what == "epilog" {
		name = hooks.EpilogName
	}
	payload, _ := json.Marshal(map[string]any{
		"id":      e.ID,
		"name":    what + "-finish",
		"context": map[string]any{"description": name, "status": status},
	})
	e.Call(flux.NodeAny, "job-manager.post-event.post", string(payload), heirLimit, func(_ string, err error) {
		if err != nil {
			e.Log(flux.LogErr, "job %s: can't let go of %s: %v; load burrow.so again to have it do so", jobid.ID(e.ID), name, err)
		}
		e.After(0, done)
	})
}
