// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"syscall"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/jobspec"
)

// maxEarly is how many feasibility requests wait for the inventory.
const maxEarly = 1024

type earlyCheck struct {
	payload string
	request Request
}

// onFeasibility tells whether a jobspec could ever be satisfied (RFC 27). Before
// the inventory is there the answer waits.
func (e *Engine) onFeasibility(payload string, r Request) {
	e.stats.count.Feasibility++
	if e.pool == nil {
		if len(e.early) == maxEarly {
			e.respondError(r, coded{syscall.EAGAIN, "the scheduler has not got the inventory yet"})
			return
		}
		e.early = append(e.early, earlyCheck{payload, r.Keep()})
		return
	}
	spec := gjson.Get(payload, "jobspec")
	if !spec.IsObject() {
		e.respondError(r, coded{syscall.EPROTO, "feasibility.check: the request has no jobspec"})
		return
	}
	req, err := jobspec.Parse([]byte(spec.Raw))
	if err != nil {
		e.respondError(r, coded{syscall.EINVAL, "jobspec: " + err.Error()})
		return
	}
	_, err = e.queue.Shape(req, 0).Check(e.pool, exclusive{e})
	if err == nil {
		err = e.reservationFault(req)
	}
	if err != nil {
		e.respondError(r, coded{syscall.EOVERFLOW, err.Error()})
		return
	}
	e.respond(r, "")
}

func (e *Engine) answerEarly() {
	early := e.early
	e.early = nil
	for _, c := range early {
		e.stats.count.Feasibility--
		e.onFeasibility(c.payload, c.request)
		c.request.Release()
	}
}
