// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader/idset"
)

// drained is why nodes are drained, as the resource module has it: the words
// are for the reasons of jobs that wait for such nodes.
type drained struct {
	ups    uint64 // state of the pool for which it was asked
	asked  bool
	groups []drainedGroup
}

type drainedGroup struct {
	ranks  *idset.Set
	reason string
}

// maxGroups is how many kinds of down nodes one reason names.
const maxGroups = 3

// askDrained asks which nodes are drained and why, if nodes went up or down
// since it was asked last.
func (e *Engine) askDrained() {
	if e.drained.asked && e.drained.ups == e.pool.Ups() {
		return
	}
	e.drained.asked, e.drained.ups = true, e.pool.Ups()
	e.host.Call("resource.status", "", func(payload string, err error) {
		if e.phase == Stopped {
			return
		}
		if err != nil {
			e.log(Debug, "resource.status: %s", err)
			return
		}
		e.drained.groups = nil
		gjson.Get(payload, "drain").ForEach(func(key, value gjson.Result) bool {
			if ranks, err := idset.Parse(key.Str); err == nil {
				e.drained.groups = append(e.drained.groups, drainedGroup{ranks, value.Get("reason").Str})
			}
			return true
		})
		e.foretellSoon(e.host.Now())
	})
}

// parkedReason says how many nodes fit a job, how many of these are down, and
// why.
func (e *Engine) parkedReason(job *queue.Job, sc resource.Scope) string {
	fit := e.pool.Fitting(job.Request, sc)
	down := fit.Clone()
	down.AndNot(e.pool.Up())
	ranks := e.pool.Ranks(down)
	rest := ranks.Clone()
	var parts []string
	for _, g := range e.drained.groups {
		here := ranks.Intersect(g.ranks)
		if here.Empty() {
			continue
		}
		rest = rest.Difference(here)
		if len(parts) == maxGroups {
			continue
		}
		text := fmt.Sprintf("rank %s is drained", here)
		if g.reason != "" {
			text += ": " + g.reason
		}
		parts = append(parts, text)
	}
	if !rest.Empty() {
		parts = append(parts, fmt.Sprintf("rank %s is not online or not available", rest))
	}
	up := fit.Count() - down.Count()
	return fmt.Sprintf("%s: %d fit when they are free, of which %s up and %s down (%s)",
		e.pool.Needs(job.Request, sc), fit.Count(), are(up), are(down.Count()), strings.Join(parts, "; "))
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}
