// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"sort"
	"strconv"
	"syscall"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// alloc is the job manager's side of RFC 27 (alloc.c). Messages are those of
// recorded/sched-trace*.jsonl.
type alloc struct {
	jm      *jobManager
	online  bool
	sched   *Handle // who was ready
	limit   int     // 0: unlimited
	queue   []*job  // by priority, then id
	sent    []*job
	pumping bool
}

func jobBefore(a, b *job) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.id < b.id
}

func insertJob(list []*job, j *job) []*job {
	i := sort.Search(len(list), func(i int) bool { return jobBefore(j, list[i]) })
	list = append(list, nil)
	copy(list[i+1:], list[i:])
	list[i] = j
	return list
}

func deleteJob(list []*job, j *job) []*job {
	for i, o := range list {
		if o == j {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

func (a *alloc) enqueue(j *job) {
	if !j.allocBypass && !j.allocQueued && !j.allocPending && j.priority != 0 && a.jm.in.queues.started(j) {
		a.queue = insertJob(a.queue, j)
		j.allocQueued = true
		a.kick()
	}
}

func (a *alloc) dequeue(j *job) {
	if j.allocQueued {
		a.queue = deleteJob(a.queue, j)
		j.allocQueued = false
	}
}

func (a *alloc) work() bool {
	return a.online && len(a.queue) > 0 && (a.limit == 0 || len(a.sent) < a.limit) && a.queue[0].priority != 0
}

// kick has requests sent, one in each turn of the reactor.
func (a *alloc) kick() {
	if a.pumping || !a.work() {
		return
	}
	a.pumping = true
	a.jm.in.postSelf(a.jm.h, func() {
		a.pumping = false
		if !a.work() {
			return
		}
		j := a.queue[0]
		a.jm.tell("sched.alloc", fmt.Sprintf(`{"id":%d,"priority":%d,"userid":%d,"t_submit":%s,"jobspec":%s}`,
			j.id, j.priority, j.userid, ftoa(j.tSubmit), j.jobspec), false)
		a.dequeue(j)
		j.allocPending = true
		a.sent = insertJob(a.sent, j)
		if j.debug {
			a.jm.post(j, "debug.alloc-request", "")
		}
		a.kick()
	})
}

// tell sends a request without a matchtag, as the job manager does to
// scheduler: answers are paired by the job's id.
func (jm *jobManager) tell(topic, payload string, noresponse bool) {
	m := &Msg{in: jm.in, kind: msgRequest, topic: topic, payload: payload, hasPayload: true,
		nodeid: nodeAny, from: jm.h, userid: jm.h.userid, rolemask: 1, noresponse: noresponse}
	jm.h.tx[0]++
	jm.h.arm(m)
	jm.in.sendRequest(m)
}

func (a *alloc) cancel(j *job, finalize bool) {
	if !j.allocPending {
		return
	}
	a.jm.tell("sched.cancel", `{"id":`+strconv.FormatUint(j.id, 10)+`}`, true)
	if finalize {
		j.allocPending = false
		a.sent = deleteJob(a.sent, j)
		a.jm.clearAnnotations(j, "")
	}
}

// recalc: in limited mode, a request of lower priority is called back for a
// job of higher priority that waits.
func (a *alloc) recalc() {
	if a.limit == 0 {
		return
	}
	for i, k := 0, len(a.sent)-1; i < len(a.queue) && k >= 0 && jobBefore(a.queue[i], a.sent[k]); i, k = i+1, k-1 {
		a.cancel(a.sent[k], false)
	}
}

func (a *alloc) requeue(j *job) {
	if !j.allocPending {
		return
	}
	a.sent = deleteJob(a.sent, j)
	j.allocPending = false
	if a.jm.in.queues.started(j) {
		a.queue = insertJob(a.queue, j)
		j.allocQueued = true
	}
	a.jm.clearAnnotations(j, "sched")
}

func (a *alloc) teardown(why string) {
	if !a.online {
		return
	}
	a.jm.in.logf(0, "job-manager", 7, "alloc: stop due to %s", why)
	a.jm.each(a.requeue)
	a.online, a.sched = false, nil
}

func (a *alloc) disconnect(from *Handle) {
	if a.sched == from {
		a.teardown("disconnect")
	}
}

// free sends freed resources; where no scheduler is ready the word is lost
// (FACTS 33).
func (a *alloc) free(id JobID, r string, final bool) {
	if a.online {
		a.jm.tell("sched.free", fmt.Sprintf(`{"id":%d,"R":%s,"final":%t}`, id, r, final), false)
	}
}

func (a *alloc) expiration(j *job, expiration float64, done func(*Error)) {
	f := a.jm.h.rpc("sched.expiration", fmt.Sprintf(`{"id":%d,"expiration":%s}`, j.id, ftoa(expiration)), true, nodeAny, 0)
	f.goCB = func(r Response) {
		f.destroy()
		if r.Errno != 0 {
			done(&Error{Num: r.Errno, Text: r.Text})
		} else {
			done(nil)
		}
	}
}

// response takes an answer to sched.alloc.
func (a *alloc) response(m *Msg) {
	if m.topic != "sched.alloc" {
		return
	}
	if m.errnum != 0 {
		a.teardown("alloc response error: " + strerror(m.errnum))
		return
	}
	p := jsonParse(m.payload)
	if !p.Get("id").Exists() || !p.Get("type").Exists() {
		a.teardown("alloc response error: " + strerror(syscall.EPROTO))
		return
	}
	id := p.Get("id").Uint()
	j := a.jm.byID[id]
	if j != nil && !j.allocPending {
		j = nil
	}
	switch p.Get("type").Int() {
	case 0: // success
		r := p.Get("R").Raw
		if r == "" {
			a.teardown("alloc response error: " + strerror(syscall.EPROTO))
			return
		}
		r, _ = sjson.Delete(r, "scheduling")
		if j == nil {
			a.free(id, r, true)
			return
		}
		a.sent = deleteJob(a.sent, j)
		if j.hasResources || j.r != "" {
			a.jm.in.logf(0, "job-manager", 3, "sched.alloc-response: id=%s already allocated", idString(id))
			a.teardown("alloc response error: " + strerror(syscall.EEXIST))
			return
		}
		j.r = r
		if n := p.Get("annotations"); n.Exists() {
			a.jm.annotate(j, n.Raw)
		}
		j.allocPending = false
		ctx := ""
		if j.annotations != "" {
			ctx = `{"annotations":` + j.annotations + `}`
		}
		a.jm.post(j, "alloc", ctx)
	case 1: // annotate
		if j != nil {
			a.jm.annotate(j, p.Get("annotations").Raw)
		}
	case 2: // deny
		if j != nil {
			j.allocPending = false
			a.sent = deleteJob(a.sent, j)
			a.jm.clearAnnotations(j, "")
			a.jm.raise(j, "alloc", 0, a.jm.in.opts.Owner, p.Get("note").Str)
		}
	case 3: // cancel
		if j != nil {
			if j.state == StateSched {
				a.requeue(j)
			} else {
				a.sent = deleteJob(a.sent, j)
				a.jm.clearAnnotations(j, "")
			}
			j.allocPending = false
			if a.jm.in.queues.started(j) {
				a.jm.action(j)
			}
		}
	}
	a.kick()
}

func (jm *jobManager) annotate(j *job, note string) {
	o := j.annotations
	if o == "" {
		o = "{}"
	}
	// Objects are merged, a null removes its key (annotate.c).
	var merge func(path string, note gjson.Result)
	merge = func(path string, note gjson.Result) {
		note.ForEach(func(k, v gjson.Result) bool {
			key := path + gjson.Escape(k.Str)
			switch {
			case v.Type == gjson.Null:
				o, _ = sjson.Delete(o, key)
			case v.IsObject() && jsonGet(o, key).IsObject():
				merge(key+".", v)
			default:
				o, _ = sjson.SetRaw(o, key, v.Raw)
			}
			return true
		})
	}
	merge("", jsonParse(note))
	if j.annotations = o; o == "{}" {
		j.annotations = ""
		jm.postVolatile(j, "annotations", `{"annotations":null}`)
		return
	}
	jm.postVolatile(j, "annotations", `{"annotations":`+j.annotations+`}`)
}

func (jm *jobManager) clearAnnotations(j *job, key string) {
	if j.annotations == "" {
		return
	}
	if key != "" {
		j.annotations, _ = sjson.Delete(j.annotations, key)
	}
	if key == "" || j.annotations == "{}" {
		j.annotations = ""
		jm.postVolatile(j, "annotations", `{"annotations":null}`)
	}
}
