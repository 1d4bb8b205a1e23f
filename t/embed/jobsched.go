// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"syscall"
)

// Requests of a scheduler to the job manager (RFC 27, alloc.c).

// helloRequest streams every job with resources. It changes no state: a
// scheduler may ask again.
func (jm *jobManager) helloRequest(r *Request) {
	if !r.Streaming() {
		r.RespondError(syscall.EPROTO, "")
		return
	}
	partial := jsonGet(r.Payload(), "partial-ok").Bool()
	plus := ""
	if partial {
		plus = " +partial-ok"
	}
	jm.in.log(0, "job-manager", 7, "scheduler: hello"+plus)
	jm.each(func(j *job) {
		if j.hasResources && !j.allocBypass {
			r.Respond(helloPayload(j, ""))
		}
	})
	jm.in.housekeeping.hello(r, partial)
	r.RespondError(syscall.ENODATA, "")
}

func helloPayload(j *job, free string) string {
	s := fmt.Sprintf(`{"id":%d,"priority":%d,"userid":%d,"t_submit":%s`, j.id, j.priority, j.userid, ftoa(j.tSubmit))
	if free != "" {
		s += `,"free":` + quote(free)
	}
	return s + "}"
}

func (jm *jobManager) readyRequest(r *Request) {
	p := jsonParse(r.Payload())
	switch p.Get("mode").Str {
	case "limited":
		if p.Get("limit").Int() <= 0 {
			r.RespondError(syscall.EPROTO, "")
			return
		}
		jm.alloc.limit = int(p.Get("limit").Int())
	case "unlimited":
		jm.alloc.limit = 0
	default:
		r.RespondError(syscall.EPROTO, "")
		return
	}
	jm.alloc.sched, jm.alloc.online = r.Msg.from, true
	jm.in.log(0, "job-manager", 7, "scheduler: ready "+p.Get("mode").Str)
	r.RespondJSON(map[string]int{"count": len(jm.alloc.queue)})
	jm.each(func(j *job) {
		if j.state == StateCleanup && j.hasResources {
			jm.action(j)
		}
	})
	jm.alloc.kick()
}

// resourceStatusRequest gives the union of all that is allocated; it refuses
// where two jobs have the same.
func (jm *jobManager) resourceStatusRequest(r *Request) {
	set := coreSet{}
	for _, j := range jm.active {
		if j.r != "" && !j.freePosted && !j.allocBypass {
			if set.overlaps(j.r) {
				r.RespondError(syscall.EINVAL, idString(j.id)+": duplicate allocation")
				return
			}
			set.addR(j.r)
		}
	}
	jm.in.housekeeping.addTo(set)
	r.Respond(`{"allocated":` + jm.in.makeR(set, 0, 0, 0) + `}`)
}

func (jm *jobManager) allocQueryRequest(r *Request) {
	r.RespondJSON(map[string]int{"queue_length": len(jm.alloc.queue), "alloc_pending": len(jm.alloc.sent), "running": jm.running})
}
