// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"time"
)

// exec is the job-exec module with mock execution: a job's tasks run for a
// time and end with a status. What it tells the job manager, and when, is
// what was seen of job-exec with job shells (recorded/jobtap-*.jsonl): a job
// cancelled while it runs ends by SIGTERM, status 36608; one that is cancelled
// before its shells started is released without start and finish.
type exec struct {
	in   *Instance
	h    *Handle
	jobs map[JobID]*execJob
}

type execJob struct {
	id         JobID
	ranks      []int
	duration   time.Duration // < 0: until cancelled
	status     int
	started    bool
	exception  bool
	finalizing bool
	complete   bool
	// attached: the job manager that runs now waits for answers.
	attached bool
	timer    *timer
	expiry   *timer
	start0   float64
}

// noReattach is what the job gets that was started by an exec service which
// was reloaded since, where job shells are its children (seen on 0.88: then
// release, with no finish). Mock execution and sdexec find theirs again.
const noReattach = "reattach to running job is not implemented: Function not implemented"

// ExecPhase names a delay of the exec service, for Options.ExecDelay.
type ExecPhase string

// The delays that Options.ExecDelay is asked for.
const (
	ExecStart   ExecPhase = "start"   // from the request to tasks that run
	ExecKill    ExecPhase = "kill"    // from SIGTERM to the end of the tasks
	ExecRelease ExecPhase = "release" // from the end of the tasks to the release
)

func (in *Instance) newExec() *exec {
	x := &exec{in: in, jobs: map[JobID]*execJob{}}
	x.h = in.newHandle(0, "job-exec")
	x.h.event = x.exceptionEvent
	in.builtins["job-exec"] = &builtin{leader: true, serve: x.request}
	x.h.subscribe("job-exception")
	return x
}

// request answers job-exec.stats-get: of all that it says, the jobs.
func (x *exec) request(r *Request) {
	if r.Topic() != "job-exec.stats-get" {
		unknownMethod(r)
		return
	}
	jobs := map[string]any{}
	for _, id := range x.ids() {
		if e := x.jobs[id]; e.attached {
			jobs[idString(id)] = map[string]any{"started": e.started, "finalizing": e.finalizing}
		}
	}
	// In turn with what the job manager is told.
	x.h.respond(r.Msg, marshal(map[string]any{"jobs": jobs}), true)
}

func (x *exec) delay(id JobID, p ExecPhase) time.Duration {
	if x.in.opts.ExecDelay == nil {
		return 0
	}
	return x.in.opts.ExecDelay(id, p)
}

// tell brings an answer to the job manager.
func (x *exec) tell(e *execJob, kind string, status int, note string) {
	jm := x.in.jm
	if !e.attached {
		return
	}
	x.in.post(x.h.id, jm.h.id, task{owner: jm.h, fn: func() { jm.startResponse(e.id, kind, status, note) }})
}

// start takes a start request.
func (x *exec) start(id JobID, reattach bool, jobspec, r string) {
	jm := x.in.jm
	x.in.post(jm.h.id, x.h.id, task{owner: x.h, fn: func() {
		if x.in.jm != jm || !jm.up {
			return // it was on its way when both were restarted
		}
		if e := x.jobs[id]; e != nil {
			x.reattach(e, reattach)
			return
		}
		e := &execJob{id: id, attached: true, ranks: ranksOfR(r), start0: jsonGet(r, "execution.starttime").Float()}
		e.duration, e.status = runOf(jobspec)
		x.jobs[id] = e
		if reattach {
			x.fatal(e, noReattach)
			return
		}
		for _, rank := range e.ranks {
			if !x.in.reachable(rank) {
				x.fatal(e, fmt.Sprintf("node failure on %s (rank %d)", x.in.Hostname(rank), rank))
				return
			}
		}
		x.setExpiry(e, jsonGet(r, "execution.expiration").Float())
		e.timer = x.in.after(x.h, x.delay(id, ExecStart), func() { x.run(e) })
	}})
}

// reattach: a new job manager asks for a job that is here. One that was killed
// before it committed "start" does not know that the job started.
func (x *exec) reattach(e *execJob, known bool) {
	e.attached = true
	if !e.started && !e.finalizing {
		return // it will tell
	}
	if known {
		x.tell(e, "reattached", 0, "")
	} else {
		x.tell(e, "start", 0, "")
	}
	if e.complete {
		x.tell(e, "finish", e.status, "")
		x.finalize(e)
	}
}

func (x *exec) run(e *execJob) {
	if e.finalizing {
		return
	}
	e.started = true
	x.tasks(e, true)
	x.tell(e, "start", 0, "")
	if e.duration >= 0 {
		e.timer = x.in.after(x.h, e.duration, func() { x.end(e, e.status) })
	}
}

func (x *exec) tasks(e *execJob, running bool) {
	if fn := x.in.opts.OnTasks; fn != nil {
		fn(e.id, e.ranks, running)
	}
}

// end: the tasks are over.
func (x *exec) end(e *execJob, status int) {
	if e.complete || x.jobs[e.id] != e {
		return
	}
	x.stop(e)
	e.complete, e.status = true, status
	x.tasks(e, false)
	x.tell(e, "finish", status, "")
	x.finalize(e)
}

func (x *exec) stop(e *execJob) {
	for _, t := range []*timer{e.timer, e.expiry} {
		if t != nil {
			x.in.disarm(t)
		}
	}
}

func (x *exec) finalize(e *execJob) {
	e.finalizing = true
	if !e.attached {
		return // until a job manager asks
	}
	x.stop(e)
	e.timer = x.in.after(x.h, x.delay(e.id, ExecRelease), func() {
		x.tell(e, "release", 0, "")
		if x.jobs[e.id] == e {
			delete(x.jobs, e.id)
		}
	})
}

// How tasks end: by the signal that job-exec sends, as a shell reports it.
const (
	bySIGTERM = (128 + 15) << 8
	bySIGALRM = (128 + 14) << 8 // at the time limit (seen on 0.88)
)

// abort ends a job after an exception (job-exec.c, jobinfo_fatal_error).
func (x *exec) abort(e *execJob, status int) {
	if !e.started {
		x.finalize(e)
		return
	}
	if e.complete {
		return
	}
	x.stop(e)
	e.timer = x.in.after(x.h, x.delay(e.id, ExecKill), func() { x.end(e, status) })
}

func (x *exec) fatal(e *execJob, note string) {
	if !e.exception {
		e.exception = true
		x.tell(e, "exception", 0, note)
	}
	x.abort(e, bySIGTERM)
}

func (x *exec) exceptionEvent(_, payload string) {
	p := jsonParse(payload)
	e := x.jobs[p.Get("id").Uint()]
	if e == nil || p.Get("severity").Int() != 0 || e.finalizing || e.exception {
		return
	}
	e.exception = true
	x.abort(e, bySIGTERM)
}

func (x *exec) setExpiry(e *execJob, expiration float64) {
	if e.expiry != nil {
		x.in.disarm(e.expiry)
	}
	if expiration <= 0 {
		return
	}
	e.expiry = x.in.after(x.h, seconds(expiration-x.in.Now()), func() {
		if e.exception || e.finalizing {
			return
		}
		e.exception = true
		id := e.id
		x.in.post(x.h.id, x.in.jm.h.id, task{owner: x.in.jm.h, fn: func() {
			if j := x.in.jm.byID[id]; j != nil {
				x.in.jm.post(j, "exception", fmt.Sprintf(`{"type":"timeout","severity":0,"userid":%d,"note":"resource allocation expired"}`, x.in.opts.Owner))
			}
		}})
		x.abort(e, bySIGALRM)
	})
}

func (x *exec) setExpiration(id JobID, expiration float64) {
	if e := x.jobs[id]; e != nil {
		x.setExpiry(e, expiration)
	}
}

// lost: shells on these brokers are gone. Every rank is critical unless the
// job said otherwise (bulkexec.c, error_cb).
func (x *exec) lost(brokers []*broker) {
	for _, id := range x.ids() {
		e := x.jobs[id]
		if e.finalizing || !e.started {
			continue
		}
		for _, b := range brokers {
			if contains(e.ranks, b.rank) {
				x.fatal(e, fmt.Sprintf("node failure on %s (rank %d)", x.in.Hostname(b.rank), b.rank))
				break
			}
		}
	}
}

func (x *exec) ids() []JobID {
	var ids []JobID
	for id := range x.jobs {
		ids = append(ids, id)
	}
	sortIDs(ids)
	return ids
}

// detach: the job manager went, and the exec service is to be loaded anew. A
// job whose shells are not up is forgotten; the others run on, or are killed
// where they can't be found again.
func (x *exec) detach() {
	if x.in.opts.NoReattach {
		x.killAll()
		return
	}
	for _, id := range x.ids() {
		e := x.jobs[id]
		e.attached = false
		if !e.started {
			x.stop(e)
			e.finalizing = true
			delete(x.jobs, id)
		}
	}
}

// killAll: all shells go with who started them.
func (x *exec) killAll() {
	for _, id := range x.ids() {
		e := x.jobs[id]
		x.stop(e)
		if e.started && !e.complete {
			x.tasks(e, false)
		}
		e.finalizing = true
		delete(x.jobs, id)
	}
}

// Finish ends a job's tasks now, with a wait status, as if they had run out.
func (in *Instance) Finish(id JobID, status int) bool {
	e := in.exec.jobs[id]
	if e == nil || !e.started || e.complete {
		return false
	}
	in.postSelf(in.exec.h, func() { in.exec.end(e, status) })
	return true
}

// TasksOn gives the jobs whose tasks run on a rank now.
func (in *Instance) TasksOn(rank int) []JobID {
	var ids []JobID
	for _, id := range in.exec.ids() {
		if e := in.exec.jobs[id]; e.started && !e.complete && contains(e.ranks, rank) {
			ids = append(ids, id)
		}
	}
	return ids
}
