// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"syscall"

	"github.com/tidwall/sjson"
)

// What others ask of one job.

// getattrRequest gives what the job manager has of a job in memory (getattr.c).
func (jm *jobManager) getattrRequest(r *Request) {
	p := jsonParse(r.Payload())
	if !p.Get("id").Exists() || !p.Get("attrs").IsArray() {
		r.RespondError(syscall.EPROTO, "")
		return
	}
	j := jm.find(p.Get("id").Uint())
	switch {
	case j == nil:
		r.RespondError(syscall.EINVAL, "unknown job")
		return
	case r.rolemask&1 == 0 && r.userid != j.userid:
		r.RespondError(syscall.EPERM, "guests can only access their own jobs")
		return
	}
	answer := "{}"
	for _, attr := range p.Get("attrs").Array() {
		value := ""
		switch attr.Str {
		case "jobspec":
			value = j.jobspec
		case "R":
			value = j.r
		case "eventlog":
			value = "[]"
			for _, e := range j.eventlog {
				value, _ = sjson.SetRaw(value, "-1", e.JSON())
			}
		default:
			r.RespondError(syscall.ENOENT, "unknown attr "+attr.Str)
			return
		}
		if value == "" {
			r.RespondError(syscall.ENOENT, attr.Str+" is NULL")
			return
		}
		answer, _ = sjson.SetRaw(answer, attr.Str, value)
	}
	r.Respond(answer)
}

// jobListRequest is the job-list module, as far as one job's ranks go. It has
// them from the R that comes with the alloc event, or from the job manager's
// memory when it is loaded later: never from the KVS (job_state.c).
func (in *Instance) jobListRequest(r *Request) {
	if r.Topic() != "job-list.list-id" {
		unknownMethod(r)
		return
	}
	p := jsonParse(r.Payload())
	j := in.jm.find(p.Get("id").Uint())
	if j == nil {
		r.RespondError(syscall.ENOENT, "")
		return
	}
	job := map[string]any{"id": j.id}
	for _, attr := range p.Get("attrs").Array() {
		if attr.Str != "ranks" {
			r.RespondError(syscall.EINVAL, attr.Str+" is not a valid attribute")
			return
		}
		if j.r != "" {
			job["ranks"] = encodeIDs(ranksOfR(j.r))
		}
	}
	r.RespondJSON(map[string]any{"job": job})
}
