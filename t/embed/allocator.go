// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"sort"
	"strconv"
)

// allocator is the scheduler where a test loads none: first come first
// served, first fit. It speaks the protocol of RFC 27 like any other, with
// the answers of sched-simple in recorded/sched-trace.jsonl.
type allocator struct {
	in    *Instance
	h     *Handle
	used  map[int]map[int]bool // cores by rank
	jobs  map[JobID]coreSet
	queue []*waiting
	dirty bool
}

type waiting struct {
	m        *Msg
	id       JobID
	priority int64
	spec     string
}

// LoadAllocator has the instance's own scheduler in place, which New does
// unless Options.NoScheduler says otherwise.
func (in *Instance) LoadAllocator() {
	a := &allocator{in: in, used: map[int]map[int]bool{}, jobs: map[JobID]coreSet{}}
	a.h = in.newHandle(0, "sched")
	a.h.serve = a.request
	in.brokers[0].addService("sched", a.h)
	in.brokers[0].addService("feasibility", a.h)
	in.allocator = a
	in.allocatorHello()
}

func (in *Instance) allocatorHello() {
	a := in.allocator
	f := a.h.rpc("job-manager.sched-hello", `{"partial-ok":true}`, true, 0, 2)
	f.goCB = func(r Response) {
		if r.Errno != 0 {
			f.destroy()
			g := a.h.rpc("job-manager.sched-ready", `{"mode":"unlimited"}`, true, 0, 0)
			g.goCB = func(Response) { g.destroy() }
			return
		}
		p := jsonParse(r.Payload)
		id := p.Get("id").Uint()
		if j := in.jm.find(id); j != nil && j.r != "" {
			s := coreSet{}
			s.addR(j.r)
			freed, _ := decodeIDs(p.Get("free").Str)
			for _, rank := range freed {
				delete(s, rank)
			}
			a.take(id, s)
		}
	}
}

// UnloadAllocator removes the instance's own scheduler, as one does before
// another is loaded.
func (in *Instance) UnloadAllocator() {
	if in.allocator != nil {
		in.allocator.h.close(true)
		in.allocator = nil
	}
}

func (a *allocator) request(r *Request) {
	p := jsonParse(r.Payload())
	switch r.Topic() {
	case "sched.alloc":
		r.Msg.incref()
		w := &waiting{m: r.Msg, id: p.Get("id").Uint(), priority: p.Get("priority").Int(), spec: p.Get("jobspec").Raw}
		if note := a.impossible(w.spec); note != "" {
			a.answer(w, fmt.Sprintf(`{"id":%d,"type":2,"note":%s}`, w.id, quote(note)))
			return
		}
		a.queue = append(a.queue, w)
		a.kick()
	case "sched.cancel":
		for i, w := range a.queue {
			if w.id == p.Get("id").Uint() {
				a.queue = append(a.queue[:i:i], a.queue[i+1:]...)
				a.answer(w, fmt.Sprintf(`{"id":%d,"type":3}`, w.id))
				break
			}
		}
		a.kick()
	case "sched.prioritize":
		for _, pair := range p.Get("jobs").Array() {
			for _, w := range a.queue {
				if w.id == pair.Get("0").Uint() {
					w.priority = pair.Get("1").Int()
				}
			}
		}
		a.kick()
	case "sched.free":
		s := coreSet{}
		s.addR(p.Get("R").Raw)
		a.give(p.Get("id").Uint(), s)
		a.kick()
	case "sched.expiration":
		r.Respond("")
	case "feasibility.check":
		if note := a.impossible(p.Get("jobspec").Raw); note != "" {
			r.RespondError(22, note)
		} else {
			r.Respond("")
		}
	default:
		r.RespondError(38, "Unknown service method '"+r.Topic()+"'")
	}
}

func (a *allocator) answer(w *waiting, payload string) {
	a.h.respond(w.m, payload, true)
	if jsonGet(payload, "type").Int() != 1 {
		w.m.done = true
		w.m.has.remove()
		w.m.decref()
	}
}

func (a *allocator) take(id JobID, s coreSet) {
	a.jobs[id] = s
	a.mark(s, true)
}

func (a *allocator) give(id JobID, s coreSet) {
	if a.jobs[id] != nil {
		a.mark(s, false)
		for rank := range s {
			delete(a.jobs[id], rank)
		}
		if len(a.jobs[id]) == 0 {
			delete(a.jobs, id)
		}
	}
}

func (a *allocator) mark(s coreSet, used bool) {
	for rank, c := range s {
		cores, _ := decodeIDs(c.cores)
		if a.used[rank] == nil {
			a.used[rank] = map[int]bool{}
		}
		for _, core := range cores {
			if used {
				a.used[rank][core] = true
			} else {
				delete(a.used[rank], core)
			}
		}
	}
}

// kick has a pass made in a turn of its own.
func (a *allocator) kick() {
	if a.dirty {
		return
	}
	a.dirty = true
	a.in.postSelf(a.h, a.pass)
}

func (a *allocator) pass() {
	a.dirty = false
	sort.SliceStable(a.queue, func(i, k int) bool {
		x, y := a.queue[i], a.queue[k]
		return x.priority > y.priority || x.priority == y.priority && x.id < y.id
	})
	for len(a.queue) > 0 {
		w := a.queue[0]
		req := parseRequest(w.spec)
		s := a.fit(req)
		if s == nil {
			return
		}
		a.queue = a.queue[1:]
		a.take(w.id, s)
		start, expiration := a.in.Now(), 0.0
		if req.duration > 0 {
			expiration = start + req.duration
		}
		r := a.in.makeR(s, start, expiration, req.slots)
		// R is in the KVS before the answer (RFC 27).
		a.in.commit(a.h, []txnOp{{key: jobKey(w.id, "R"), value: r}}, func() {
			a.answer(w, fmt.Sprintf(`{"id":%d,"type":0,"R":%s,"annotations":{"sched":{"resource_summary":%s}}}`, w.id, r, quote(summary(s))))
		})
	}
}

func summary(s coreSet) string {
	ranks := s.ranks()
	text := func(what, ids string) string {
		if _, err := strconv.Atoi(ids); err == nil {
			return what + ids
		}
		return what + "[" + ids + "]"
	}
	return text("rank", encodeIDs(ranks)) + "/" + text("core", s[ranks[0]].cores)
}

// fit finds the first nodes that have what is asked for, nil for none.
func (a *allocator) fit(req request) coreSet {
	s := coreSet{}
	total := a.in.opts.Cores
	left := req.slots
	for rank := 0; rank < len(a.in.brokers); rank++ {
		if !a.in.resource.usable(rank) || req.ranks != nil && !contains(req.ranks, rank) {
			continue
		}
		var free []int
		for c := 0; c < total; c++ {
			if !a.used[rank][c] {
				free = append(free, c)
			}
		}
		if req.nodes > 0 {
			need := req.perNode * req.cores
			if req.exclusive && len(free) < total || len(free) < need {
				continue
			}
			if req.exclusive {
				need = total
			}
			s[rank] = children{cores: encodeIDs(free[:need])}
			if len(s) == req.nodes {
				return s
			}
			continue
		}
		n := len(free) / req.cores
		if n > left {
			n = left
		}
		if n > 0 {
			s[rank] = children{cores: encodeIDs(free[:n*req.cores])}
		}
		if left -= n; left == 0 {
			return s
		}
	}
	return nil
}

func (a *allocator) impossible(spec string) string {
	req := parseRequest(spec)
	size, total := len(a.in.brokers), a.in.opts.Cores
	switch {
	case req.nodes > size && req.exclusive:
		return fmt.Sprintf("unsatisfiable request: need %d exclusive node(s), only %d eligible", req.nodes, size)
	case req.nodes > size, req.nodes > 0 && req.perNode*req.cores > total, req.nodes == 0 && req.slots*req.cores > size*total:
		return "unsatisfiable request"
	}
	return ""
}
