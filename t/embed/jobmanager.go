// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"strings"
	"syscall"
	"time"
)

// jobManager is the job-manager module. Its parts follow the files of the
// real one: jobevents.go (event.c), jobsubmit.go (submit.c), joballoc.go
// (alloc.c), jobstart.go (start.c), jobtap.go (jobtap.c), jobraise.go
// (raise.c, update.c), jobrestart.go (restart.c), queues.go (queue.c).
type jobManager struct {
	in *Instance
	h  *Handle

	active   []*job // in the order of their submission
	byID     map[JobID]*job
	inactive map[JobID]*job
	running  int

	plugins []*Plugin
	stack   []*job // jobs of the callbacks that run, innermost last

	batch batch
	alloc alloc
	// execUp: an exec service has said hello.
	execUp bool
	up     bool
}

// batchTimeout is how long events are gathered before their commit (event.c).
const batchTimeout = 10 * time.Millisecond

func (in *Instance) newJobManager() *jobManager {
	jm := &jobManager{in: in, byID: map[JobID]*job{}, inactive: map[JobID]*job{}}
	jm.h = in.newHandle(0, "job-manager")
	jm.h.first, jm.h.answer = jm.request, jm.alloc.response
	jm.alloc.jm, jm.batch.jm = jm, jm
	jm.batch.timer = timer{index: -1, t: task{owner: jm.h, fn: jm.batch.commit}}
	in.brokers[0].addService("job-manager", jm.h)
	jm.up = true
	return jm
}

// request serves what the job manager itself serves; false leaves it to the
// plugins' handlers.
func (jm *jobManager) request(m *Msg) bool {
	fn := jobManagerMethods[strings.TrimPrefix(m.topic, "job-manager.")]
	if fn == nil {
		return false
	}
	if m.rolemask&1 == 0 && !guestMethods[m.topic] {
		jm.h.respondError(m, syscall.EPERM, "Request requires owner credentials")
		return true
	}
	fn(jm, &Request{in: jm.in, Msg: m})
	return true
}

var jobManagerMethods map[string]func(*jobManager, *Request)

var guestMethods = map[string]bool{"job-manager.raise": true, "job-manager.update": true,
	"job-manager.urgency": true, "job-manager.getinfo": true, "job-manager.getattr": true}

func init() {
	jobManagerMethods = map[string]func(*jobManager, *Request){
		"submit":          (*jobManager).submitRequest,
		"raise":           (*jobManager).raiseRequest,
		"update":          (*jobManager).updateRequest,
		"urgency":         (*jobManager).urgencyRequest,
		"post-event.post": (*jobManager).postEventRequest,
		"sched-hello":     (*jobManager).helloRequest,
		"sched-ready":     (*jobManager).readyRequest,
		"resource-status": (*jobManager).resourceStatusRequest,
		"alloc-query":     (*jobManager).allocQueryRequest,
		"config-reload": func(jm *jobManager, r *Request) {
			if err := jm.confUpdate(r.Payload()); err != nil {
				r.RespondError(syscall.EINVAL, err.Error())
				return
			}
			// A part of the job manager that comes later may refuse it, when plugins
			// have it already; they are not told (seen on 0.88).
			if d := jsonGet(r.Payload(), "job-manager.housekeeping.release-after"); d.Exists() {
				if _, err := time.ParseDuration(d.Str); err != nil {
					r.RespondError(syscall.EINVAL, "job-manager.housekeeping.release-after FSD parse error")
					return
				}
			}
			jm.in.configureQueues(r.Payload())
			r.Respond("")
		},
		"queue-start": (*jobManager).queueStartRequest,
		"getattr":     (*jobManager).getattrRequest,
		"getinfo": func(jm *jobManager, r *Request) {
			r.RespondJSON(map[string]any{"max_jobid": jm.in.lastID})
		},
		"disconnect": func(jm *jobManager, r *Request) { jm.alloc.disconnect(r.Msg.from) },
		"stats-get": func(jm *jobManager, r *Request) {
			r.RespondJSON(map[string]any{"active_jobs": len(jm.active), "inactive_jobs": len(jm.inactive), "max_jobid": jm.in.lastID})
		},
	}
}

// each calls fn for the active jobs. The real one goes through a hash, so the
// order is open; here it is that of submission, or by the seed.
func (jm *jobManager) each(fn func(*job)) {
	jobs := append([]*job(nil), jm.active...)
	if jm.in.random() {
		jm.in.rng.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
	}
	for _, j := range jobs {
		fn(j)
	}
}

func (jm *jobManager) insert(j *job) {
	jm.active = append(jm.active, j)
	jm.byID[j.id] = j
}

func (jm *jobManager) remove(j *job) {
	if jm.byID[j.id] != j {
		return
	}
	delete(jm.byID, j.id)
	for i, o := range jm.active {
		if o == j {
			jm.active = append(jm.active[:i:i], jm.active[i+1:]...)
			return
		}
	}
}

// find gives a job, active or not.
func (jm *jobManager) find(id JobID) *job {
	if j := jm.byID[id]; j != nil {
		return j
	}
	return jm.inactive[id]
}
