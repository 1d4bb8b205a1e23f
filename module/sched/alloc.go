// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// ask is an open alloc request.
type ask struct {
	job     *queue.Job
	request Request
	alloc   *resource.Alloc // booked, its R on its way to the KVS
	around  *queue.Job      // the job that it went ahead of
	sound   bool            // the job manager has no R of it: see stale.go
	notes   annotations
}

// field reads a non-negative integer of a payload.
func field(v gjson.Result, name string) (uint64, error) {
	f := v.Get(name)
	if f.Type != gjson.Number || f.Num < 0 || f.Num != float64(f.Uint()) {
		return 0, fmt.Errorf("%s is missing or not a number of 0 or above", name)
	}
	return f.Uint(), nil
}

func (e *Engine) onAlloc(payload string, r Request) {
	e.stats.count.Alloc++
	v := gjson.Parse(payload)
	id, err := field(v, "id")
	if err != nil {
		// Without an id there is no way to answer (RFC 27).
		e.log(Err, "sched.alloc: %s", err)
		return
	}
	if e.phase != Ready {
		// It was meant for the scheduler before this one: the job manager sent
		// it before it heard of the end of that one, and sends it again once
		// this one is ready.
		e.log(Debug, "sched.alloc: %s comes before ready: passing over", jobid.ID(id))
		return
	}
	job, err := e.readJob(jobid.ID(id), v)
	if err != nil {
		e.deny(jobid.ID(id), r, err)
		return
	}
	if len(job.Request.Left) > 0 {
		e.log(Debug, "%s: not looking at resources of type %q", job.ID, job.Request.Left)
	}
	if !e.replace(job.ID) {
		return
	}
	if _, err := job.Check(e.pool, exclusive{e}); err != nil {
		e.deny(job.ID, r, err)
		return
	}
	e.queue.Add(job)
	e.asks[job.ID] = &ask{job: job, request: r.Keep()}
	e.fresh = append(e.fresh, job)
	e.kick()
}

func (e *Engine) readJob(id jobid.ID, v gjson.Result) (*queue.Job, error) {
	priority, err := field(v, "priority")
	if err != nil {
		return nil, err
	}
	spec := v.Get("jobspec")
	if !spec.IsObject() {
		return nil, errors.New("the request has no jobspec")
	}
	req, err := jobspec.Parse([]byte(spec.Raw))
	if err != nil {
		return nil, fmt.Errorf("jobspec: %w", err)
	}
	user := v.Get("userid").Int()
	return &queue.Job{
		ID: id, Priority: int64(priority), UserID: user,
		TSubmit: v.Get("t_submit").Num, Shape: e.queue.Shape(req, user),
	}, nil
}

// replace makes room for a new request of a job. The job manager has one open
// request per job, and none for a job with resources; should it seem otherwise
// then its view holds, unless the job is just being given something.
func (e *Engine) replace(id jobid.ID) bool {
	if old := e.asks[id]; old != nil {
		if old.alloc != nil {
			e.log(Err, "sched.alloc: %s is asked for twice", id)
			return false
		}
		e.log(Err, "sched.alloc: %s is asked for twice: taking the later", id)
		e.forget(id)
		e.loosen()
	}
	if e.pool.Alloc(id) != nil {
		e.log(Warning, "sched.alloc: %s had resources, which the job manager does not know of: freeing them", id)
		e.pool.Free(id)
		e.stats.count.LostFrees++
		e.loosen()
	}
	return true
}

// forget drops an open request.
func (e *Engine) forget(id jobid.ID) *ask {
	a := e.asks[id]
	if a == nil {
		return nil
	}
	e.queue.Remove(id)
	delete(e.asks, id)
	a.request.Release()
	return a
}

// Types of alloc responses (RFC 27).
const (
	allocSuccess  = 0
	allocAnnotate = 1
	allocDeny     = 2
	allocCancel   = 3
)

func (e *Engine) deny(id jobid.ID, r Request, reason error) {
	e.stats.count.Deny++
	e.log(Debug, "%s: denied: %s", id, reason)
	b := newPayload(id, allocDeny)
	b.text("note", reason.Error())
	e.respond(r, b.done())
}

func (e *Engine) onCancel(payload string, _ Request) {
	e.stats.count.Cancel++
	id, err := field(gjson.Parse(payload), "id")
	if err != nil {
		e.log(Err, "sched.cancel: %s", err)
		return
	}
	a := e.asks[jobid.ID(id)]
	if a == nil || a.alloc != nil {
		return // RFC 27: nothing pending, or success is on its way
	}
	e.respond(a.request, newPayload(a.job.ID, allocCancel).done())
	e.forget(a.job.ID)
	e.loosen()
}

func (e *Engine) onPrioritize(payload string, _ Request) {
	e.stats.count.Prioritize++
	changed := map[jobid.ID]int64{}
	gjson.Get(payload, "jobs").ForEach(func(_, pair gjson.Result) bool {
		p := pair.Array()
		if len(p) != 2 || p[0].Type != gjson.Number || p[1].Type != gjson.Number || p[1].Num < 0 {
			e.log(Err, "sched.prioritize: %s is not [id, priority]", pair.Raw)
			return true
		}
		changed[jobid.ID(p[0].Uint())] = p[1].Int()
		return true
	})
	if e.queue.Prioritize(changed) > 0 {
		e.loosen()
	}
}

func (e *Engine) respond(r Request, payload string) {
	if err := r.Respond(payload); err != nil {
		e.log(Err, "could not send a response: %s", err)
	}
}

func (e *Engine) respondError(r Request, err error) {
	if err := r.RespondError(err); err != nil {
		e.log(Err, "could not send a response: %s", err)
	}
}
