// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks/wire"
	"flux-burrow/module/agent"
	"flux-burrow/rv1reader/idset"
)

// An heir ends a prolog's hold after the plugin that took it was removed. It
// lives on the job manager's handle, which outlives the plugin, as the code
// does (an object of Go's is never unmapped). Without the plugin there is no
// jobtap call left, so it has the job manager post the event. It ends when
// that is done, when the plugin is loaded again, which goes on from the job's
// eventlog, or with the handle.
type heir struct {
	*host
	tree        *agent.Tree
	limit       time.Duration
	need        wire.Need
	description string
	strict      bool
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
func (j *jobtap) Inherit(ranks *idset.Set, need wire.Need, description string, strict bool) bool {
	// A job manager that is itself at its end knows no jobs: then the hold
	// stays, in the job's eventlog, for the next load.
	if _, err := j.p.JobLookup(need.ID); err != nil || j.tree == nil {
		return false
	}
	o, err := newHost(j.h)
	if err != nil {
		return false
	}
	e := &heir{host: o, tree: j.tree, limit: j.limit, need: need, description: description, strict: strict}
	if err := j.h.OnDestroy(fmt.Sprintf("burrow::heir-%d", need.ID), e.end); err != nil {
		e.close()
		return false
	}
	heirs.Lock()
	heirs.list = append(heirs.list, e)
	heirs.Unlock()
	e.ask(ranks)
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
	e.close()
}

// ask repeats the wish, which the nodes know already, for its answer.
func (e *heir) ask(ranks *idset.Set) {
	agent.SetBelow(e.host, pluginName, e.tree, e.limit, wire.SetRequest{Ranks: ranks, Need: e.need}, nil, nil,
		func(r wire.SetResponse) {
			switch {
			case e.closed:
			case len(r.Failed) > 0 && e.strict:
				e.raise(fmt.Sprintf("services not as run wants them on rank %s: %s", r.Failed[0].Ranks, r.Failed[0].Reason))
			case !r.Waiting.Empty():
				e.After(heirAgain, func() { e.ask(r.Waiting) })
			default:
				e.finish(0)
			}
		})
}

func (e *heir) raise(note string) {
	payload, _ := json.Marshal(map[string]any{"id": e.need.ID, "severity": 0, "type": "burrow-services", "note": note})
	e.Call(flux.NodeAny, "job-manager.raise", string(payload), heirLimit, func(_ string, err error) {
		if err != nil {
			e.Log(flux.LogErr, "job %d: can't raise an exception (%s): %v", e.need.ID, note, err)
		}
		e.finish(1)
	})
}

func (e *heir) finish(status int) {
	payload, _ := json.Marshal(map[string]any{
		"id":      e.need.ID,
		"name":    "prolog-finish",
		"context": map[string]any{"description": e.description, "status": status},
	})
	e.Call(flux.NodeAny, "job-manager.post-event.post", string(payload), heirLimit, func(_ string, err error) {
		if err != nil {
			e.Log(flux.LogErr, "job %d: can't let go of %s: %v; load burrow.so again to have it do so", e.need.ID, e.description, err)
		}
		e.After(0, e.end)
	})
}
