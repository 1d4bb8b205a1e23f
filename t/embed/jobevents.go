// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import "strconv"

// Events of jobs: each job has a queue, so that what a callback posts comes
// after what is being processed; the eventlog is committed in batches
// (event.c).

// batch gathers eventlog entries for one commit to the KVS. Jobs that were
// just submitted, and answers to whoever submitted them, wait for it.
type batch struct {
	jm    *jobManager
	timer timer
	open  bool
	ops   []txnOp
	jobs  []*job
	after []func()
}

func (b *batch) start() {
	if !b.open {
		b.open = true
		b.jm.in.arm(&b.timer, batchTimeout)
	}
}

func (b *batch) add(j *job, e *Event) {
	b.start()
	b.ops = append(b.ops, txnOp{key: j.key("eventlog"), value: e.JSON() + "\n", appendTo: true})
}

// commit sends the batch. What waits for it goes on when the KVS has it.
func (b *batch) commit() {
	if !b.open {
		return
	}
	jm := b.jm
	ops, jobs, after := b.ops, b.jobs, b.after
	b.open, b.ops, b.jobs, b.after = false, nil, nil, nil
	jm.in.disarm(&b.timer)
	jm.in.commit(jm.h, ops, func() { jm.committed(jobs, after) })
}

func (jm *jobManager) committed(jobs []*job, after []func()) {
	for _, j := range jobs {
		j.hold = false
		jm.drain(j)
	}
	for _, fn := range after {
		fn()
	}
}

// flush commits what is pending at once, as the module's end does.
func (b *batch) flush() {
	if b.open {
		b.jm.in.disarm(&b.timer)
		b.jm.in.kvs.apply(b.ops)
		b.open, b.ops, b.jobs, b.after = false, nil, nil, nil
	}
}

// post appends an event to a job's eventlog. The context is a JSON object.
func (jm *jobManager) post(j *job, name, context string) {
	jm.postEntry(j, &Event{Time: jm.in.Now(), Name: name, Context: context}, false)
}

// postVolatile is for events that reach plugins but not the KVS.
func (jm *jobManager) postVolatile(j *job, name, context string) {
	jm.postEntry(j, &Event{Time: jm.in.Now(), Name: name, Context: context}, true)
}

func (jm *jobManager) postEntry(j *job, e *Event, noCommit bool) bool {
	if j.readonly {
		return false // EROFS
	}
	j.queue = append(j.queue, queued{e, noCommit})
	if len(j.queue) > 1 || j.hold {
		return true
	}
	jm.drain(j)
	return true
}

func (jm *jobManager) drain(j *job) {
	for len(j.queue) > 0 && !j.readonly {
		q := j.queue[0]
		jm.process(j, q.e, q.noCommit)
		if len(j.queue) == 0 {
			return
		}
		j.queue = j.queue[1:]
	}
}

func (jm *jobManager) process(j *job, e *Event, noCommit bool) {
	old := j.state
	if !noCommit {
		j.eventlog = append(j.eventlog, e)
	}
	jm.in.journal(j, e, noCommit)
	if err := j.update(e); err != nil {
		jm.in.logf(0, "job-manager", 3, "%s: %v", idString(j.id), err)
		j.queue = nil
		return
	}
	j.posted[e.Name] = true
	if !noCommit {
		jm.batch.add(j, e)
	}
	was, is := old&(StateRun|StateCleanup) != 0, j.state&(StateRun|StateCleanup) != 0
	if is && !was {
		jm.running++
	} else if was && !is {
		jm.running--
	}
	jm.eventCallbacks(j, e, old)
	if e.Name == "resource-update" {
		jm.in.exec.setExpiration(j.id, jsonGet(e.Context, "expiration").Float())
	}
	jm.action(j)
}

// eventCallbacks: subscribers first, then the state callback (FACTS 11).
func (jm *jobManager) eventCallbacks(j *job, e *Event, old State) {
	entry := ""
	if len(j.subscribers) > 0 || j.state != old {
		entry = `"entry":` + e.JSON()
	}
	if len(j.subscribers) > 0 {
		jm.stackCall(append([]*Plugin(nil), j.subscribers...), j, "job.event."+e.Name, newArgs(jm.in, j.args(entry)))
	}
	if e.Name == "jobspec-update" {
		jm.call(j, "job.update", `"updates":`+e.Context)
	}
	if j.state != old {
		jm.call(j, stateTopics[j.state], entry+`,"prev_state":`+strconv.Itoa(int(old)))
	}
}

// action does what a job's state asks for (event.c, event_job_action). It may
// be called more than once for a state.
func (jm *jobManager) action(j *job) {
	switch j.state {
	case StateDepend:
		if len(j.deps) == 0 && !j.queuedEvent("dependency-add") && !j.dependPosted {
			// Set first: the post may be processed at once.
			j.dependPosted = true
			jm.post(j, "depend", "")
		}
	case StatePriority:
		if j.allocPending {
			jm.alloc.cancel(j, false)
		}
		jm.alloc.dequeue(j)
	case StateSched:
		jm.alloc.enqueue(j)
		jm.alloc.recalc()
	case StateRun:
		if j.perilog == 0 && !j.queuedEvent("prolog-start") {
			jm.startRequest(j)
		}
	case StateCleanup:
		if j.allocPending {
			jm.alloc.cancel(j, true)
		}
		jm.alloc.dequeue(j)
		idle := !j.queuedEvent("epilog-start") && j.perilog == 0 && !j.startPending
		if j.hasResources && idle && !j.freePosted {
			if !j.allocBypass {
				jm.in.housekeeping.start(j)
			}
			j.freePosted = true
			jm.post(j, "free", "")
		}
		if !j.allocQueued && !j.allocPending && !j.hasResources && idle &&
			!j.queuedEvent("epilog-start") && j.perilog == 0 && !j.startPending && j.state == StateCleanup && !j.queuedEvent("clean") {
			jm.post(j, "clean", "")
		}
	case StateInactive:
		j.readonly = true
		if jm.inactive[j.id] == nil {
			jm.inactive[j.id] = j
			jm.call(j, "job.inactive-add", "")
		}
		jm.call(j, "job.destroy", "")
		jm.remove(j)
	}
}
