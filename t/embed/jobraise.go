// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

const noUser = 0xFFFFFFFF

// raise posts an exception and publishes it as an event, by which the exec
// service hears of it (raise.c).
func (jm *jobManager) raise(j *job, kind string, severity int, userid uint32, note string) bool {
	ctx := fmt.Sprintf(`{"type":%s,"severity":%d,"note":%s`, quote(kind), severity, quote(note))
	if userid != noUser {
		ctx += `,"userid":` + strconv.FormatUint(uint64(userid), 10)
	}
	if !jm.postEntry(j, &Event{Time: jm.in.Now(), Name: "exception", Context: ctx + "}"}, false) {
		return false
	}
	jm.in.publish(jm.h, "job-exception", fmt.Sprintf(`{"id":%d,"type":%s,"severity":%d}`, j.id, quote(kind), severity))
	return true
}

// Raise raises an exception as flux-job-raise(1) does.
func (in *Instance) Raise(id JobID, kind string, severity int, note string) error {
	if !in.jm.up {
		return &Error{Num: syscall.ENOSYS, Text: noService("job-manager.raise")}
	}
	j := in.jm.byID[id]
	if j == nil {
		return &Error{Num: syscall.ENOENT, Text: in.jm.unknown(id)}
	}
	if !in.jm.raise(j, kind, severity, in.opts.Owner, note) {
		return &Error{Num: syscall.EROFS, Text: strerror(syscall.EROFS)}
	}
	return nil
}

// Cancel raises the exception of flux-cancel(1).
func (in *Instance) Cancel(id JobID) error { return in.Raise(id, "cancel", 0, "") }

func (jm *jobManager) unknown(id JobID) string {
	if jm.inactive[id] != nil {
		return "job is inactive"
	}
	return "unknown job id"
}

func (jm *jobManager) raiseRequest(r *Request) {
	p := jsonParse(r.Payload())
	id, sev, kind := p.Get("id"), p.Get("severity"), p.Get("type")
	if !id.Exists() || !sev.Exists() || !kind.Exists() {
		r.RespondError(syscall.EPROTO, "")
		return
	}
	switch j := jm.byID[id.Uint()]; {
	case sev.Int() < 0 || sev.Int() > 7:
		r.RespondError(syscall.EPROTO, "invalid exception severity")
	case kind.Str == "" || strings.ContainsAny(kind.Str, " \t\n="):
		r.RespondError(syscall.EPROTO, "invalid exception type")
	case j == nil:
		r.RespondError(syscall.ENOENT, jm.unknown(id.Uint()))
	case r.rolemask&1 == 0 && r.userid != j.userid:
		r.RespondError(syscall.EPERM, "guests can only raise exceptions on their own jobs")
	default:
		jm.raise(j, kind.Str, int(sev.Int()), r.userid, p.Get("note").Str)
		r.Respond("")
	}
}

// SetUrgency is flux-job-urgency(1).
func (in *Instance) SetUrgency(id JobID, urgency int) error {
	_, err := in.RPC(0, 0, "job-manager.urgency", fmt.Sprintf(`{"id":%d,"urgency":%d}`, id, urgency))
	return err
}

func (jm *jobManager) urgencyRequest(r *Request) {
	p := jsonParse(r.Payload())
	j := jm.byID[p.Get("id").Uint()]
	urgency := p.Get("urgency").Int()
	switch {
	case urgency < 0 || urgency > 31:
		r.RespondError(syscall.EINVAL, "urgency value is out of range")
	case j == nil:
		r.RespondError(syscall.EINVAL, strings.TrimSuffix(jm.unknown(p.Get("id").Uint()), " id"))
	case r.rolemask&1 == 0 && r.userid != j.userid:
		r.RespondError(syscall.EPERM, "guests can only reprioritize their own jobs")
	case j.hasResources:
		r.RespondError(syscall.EINVAL, "urgency cannot be changed once resources are allocated")
	default:
		old := j.urgency
		jm.post(j, "urgency", fmt.Sprintf(`{"userid":%d,"urgency":%d}`, r.userid, urgency))
		r.RespondJSON(map[string]int{"old_urgency": old})
	}
}

// postEventRequest is the service of the built-in plugin .post-event.
func (jm *jobManager) postEventRequest(r *Request) {
	p := jsonParse(r.Payload())
	j := jm.byID[p.Get("id").Uint()]
	switch {
	case p.Get("id").Type != gjson.Number || p.Get("name").Type != gjson.String:
		r.RespondError(syscall.EPROTO, "")
	case j == nil:
		r.RespondError(syscall.ENOENT, "")
	case !jm.postEntry(j, &Event{Time: jm.in.Now(), Name: p.Get("name").Str, Context: p.Get("context").Raw}, false):
		r.RespondError(syscall.EROFS, "")
	default:
		r.Respond("")
	}
}

// UpdateDuration is flux-update(1) of attributes.system.duration.
func (in *Instance) UpdateDuration(id JobID, seconds float64) error {
	_, err := in.RPC(0, 0, "job-manager.update", fmt.Sprintf(`{"id":%d,"updates":{"attributes.system.duration":%s}}`, id, ftoa(seconds)))
	return err
}

// updateRequest changes a job: the duration of a running one after the
// scheduler agreed (update.c; recorded/jobtap-plain.jsonl has the callbacks).
func (jm *jobManager) updateRequest(r *Request) {
	p := jsonParse(r.Payload())
	j := jm.byID[p.Get("id").Uint()]
	if j == nil {
		r.RespondError(syscall.ENOENT, jm.unknown(p.Get("id").Uint()))
		return
	}
	updates := p.Get("updates")
	refused := ""
	updates.ForEach(func(k, val gjson.Result) bool {
		key := k.Str
		args := newArgs(jm.in, j.args(fmt.Sprintf(`"cred":{"userid":%d,"rolemask":%d},"key":%s,"value":%s`,
			r.userid, r.rolemask|4, quote(key), val.Raw)))
		rc := jm.stackCall(jm.plugins, j, "job.update."+key, args)
		// The built-in plugin .update-duration takes this one key.
		if rc == 0 && key != "attributes.system.duration" {
			refused = "update of " + key + " not supported"
		} else if rc < 0 {
			refused = args.errmsg("update rejected by job-manager plugin")
		}
		return refused == ""
	})
	if refused != "" {
		r.RespondError(syscall.EINVAL, refused)
		return
	}
	duration := updates.Get(`attributes\.system\.duration`)
	if j.state&(StateRun|StateCleanup) == 0 || !duration.Exists() {
		jm.post(j, "jobspec-update", updates.Raw)
		r.Respond("")
		return
	}
	expiration := 0.0
	if duration.Float() > 0 {
		start := jsonGet(j.r, "execution.starttime").Float()
		if expiration = start + duration.Float(); expiration <= jm.in.Now() {
			r.RespondError(syscall.EINVAL, "requested duration places job expiration in the past")
			return
		}
	}
	r.Msg.incref()
	jm.alloc.expiration(j, expiration, func(err *Error) {
		defer r.Msg.decref()
		if err != nil {
			if err.Num != syscall.ENOSYS { // a scheduler need not have it
				r.RespondError(err.Num, "scheduler refused expiration update")
				return
			}
		}
		jm.post(j, "jobspec-update", updates.Raw)
		jm.post(j, "resource-update", `{"expiration":`+ftoa(expiration)+`}`)
		r.Respond("")
	})
}
