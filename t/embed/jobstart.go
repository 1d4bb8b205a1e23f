// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import "fmt"

// The job manager's side of the exec service (start.c).

// startRequest asks the exec service to start a job, or to find it again.
func (jm *jobManager) startRequest(j *job) {
	if j.startPending || !jm.execUp {
		return
	}
	j.startPending = true
	jm.in.exec.start(j.id, j.started, j.jobspec, j.r)
	if j.debug {
		jm.post(j, "debug.start-request", "")
	}
}

// execHello: the exec service is there. Jobs in RUN that are not held start,
// or are found again where they run.
func (jm *jobManager) execHello() {
	jm.execUp = true
	jm.each(func(j *job) {
		if j.state == StateRun {
			jm.action(j)
		}
	})
}

// startResponse takes one of the answers to a start request: start, finish,
// release, exception, reattached.
func (jm *jobManager) startResponse(id JobID, kind string, status int, note string) {
	j := jm.byID[id]
	if j == nil {
		jm.in.logf(0, "job-manager", 3, "start response: id=%s not active", idString(id))
		return
	}
	switch kind {
	case "start":
		if j.started {
			jm.in.logf(0, "job-manager", 3, "start response: id=%s should not get start event", idString(id))
			return
		}
		jm.post(j, "start", "")
	case "finish":
		jm.post(j, "finish", fmt.Sprintf(`{"status":%d}`, status))
	case "release":
		j.startPending = false
		jm.post(j, "release", `{"ranks":"all","final":true}`)
	case "exception":
		jm.post(j, "exception", fmt.Sprintf(`{"type":"exec","severity":0,"userid":%d,"note":%s}`, jm.in.opts.Owner, quote(note)))
	}
}
