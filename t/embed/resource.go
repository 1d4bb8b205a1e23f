// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"math"
	"sort"
	"syscall"
)

// resource is the resource module: which ranks are online and drained, and
// the streams of resource.acquire that say so.
type resource struct {
	in      *Instance
	drained map[int]*Drain
	exclude []int // as of the module's load
	acquire []*acquirer
	// Drains are all drain requests that were granted, in order.
	drains []Drain
}

// Drain says why a rank is drained.
type Drain struct {
	Rank   int
	Time   float64
	Reason string
}

func (in *Instance) newResource() *resource {
	r := &resource{in: in, drained: map[int]*Drain{}}
	in.builtins["resource"] = &builtin{serve: r.request}
	r.exclude = r.excluded()
	return r
}

func (r *resource) usable(rank int) bool {
	return r.in.brokers[rank].up && r.drained[rank] == nil && !contains(r.exclude, rank)
}

// excluded reads resource.exclude of the configuration: ranks or a host. The
// real module does so when it is loaded, and at no reload of the configuration
// (exclude.c).
func (r *resource) excluded() []int {
	x := jsonGet(r.in.Config(), "resource.exclude").Str
	ranks, err := decodeIDs(x)
	if err != nil {
		for rank := range r.in.brokers {
			if r.in.Hostname(rank) == x {
				ranks = append(ranks, rank)
			}
		}
	}
	return ranks
}

// inventory is the instance's R.
func (r *resource) inventory() string {
	if r.in.opts.R != "" {
		return r.in.opts.R
	}
	s := coreSet{}
	cores := make([]int, r.in.opts.Cores)
	for i := range cores {
		cores[i] = i
	}
	gpus := make([]int, r.in.opts.GPUs)
	for i := range gpus {
		gpus[i] = i
	}
	c := children{encodeIDs(cores), encodeIDs(gpus)}
	for rank := range r.in.brokers {
		s[rank] = c
	}
	return r.in.makeR(s, 0, 0, 0)
}

func (r *resource) request(q *Request) {
	if q.rolemask&1 == 0 && q.Topic() != "resource.status" && q.Topic() != "resource.sched-status" {
		q.RespondError(syscall.EPERM, "Request requires owner credentials")
		return
	}
	if q.Rank() != 0 {
		if q.Topic() == "resource.status" {
			q.RespondError(syscall.EPROTO, "this RPC only works on rank 0")
		} else {
			q.RespondError(syscall.ENOSYS, "Unknown service method '"+q.Topic()+"'")
		}
		return
	}
	switch q.Topic() {
	case "resource.drain":
		r.drain(q)
	case "resource.undrain":
		r.undrain(q)
	case "resource.status":
		r.status(q)
	case "resource.acquire":
		r.acquireRequest(q)
	case "resource.acquire-mute":
		for _, a := range r.acquire {
			a.mute = true
		}
		q.Respond("")
	case "resource.acquire-cancel":
		tag := uint32(jsonGet(q.Payload(), "matchtag").Uint())
		r.release(func(a *acquirer) bool { return a.m.from == q.Msg.from && a.m.matchtag == tag },
			syscall.ECANCELED, "")
	case "resource.sched-status":
		r.schedStatus(q)
	case "resource.disconnect":
		r.release(func(a *acquirer) bool { return a.m.from == q.Msg.from }, 0, "")
	default:
		q.RespondError(syscall.ENOSYS, "Unknown service method '"+q.Topic()+"'")
	}
}

func (r *resource) self() *Handle { return r.in.lookup(0, "resource") }

// drain follows drain.c: without a mode a rank that is drained already is an
// error, "update" leaves a reason that is there, "overwrite" replaces it.
func (r *resource) drain(q *Request) {
	p := jsonParse(q.Payload())
	targets, mode, reason := p.Get("targets"), p.Get("mode"), p.Get("reason").Str
	if targets.Str == "" {
		q.RespondError(syscall.EPROTO, "")
		return
	}
	ranks := r.targets(q, targets.Str)
	if ranks == nil {
		return
	}
	overwrite := false
	switch {
	case !mode.Exists():
		var already []int
		for _, rank := range ranks {
			if r.drained[rank] != nil {
				already = append(already, rank)
			}
		}
		if len(already) > 0 {
			s := ""
			if len(already) > 1 {
				s = "s"
			}
			q.RespondError(syscall.EEXIST, fmt.Sprintf("rank%s %s already drained", s, encodeIDs(already)))
			return
		}
	case mode.Str == "update":
	case mode.Str == "overwrite" || mode.Str == "force-overwrite":
		overwrite = true
	default:
		q.RespondError(syscall.EINVAL, "Invalid mode specified")
		return
	}
	for _, rank := range ranks {
		d := r.drained[rank]
		if d == nil {
			d = &Drain{Rank: rank, Time: r.in.Now(), Reason: reason}
			r.drained[rank] = d
			r.drains = append(r.drains, *d)
		} else if overwrite || d.Reason == "" {
			d.Reason = reason
			r.drains = append(r.drains, *d)
		}
	}
	r.in.log(0, "resource", 6, fmt.Sprintf("drain idset=%s nodelist=%s overwrite=%d reason=%s",
		encodeIDs(ranks), r.in.hosts(ranks), boolInt(overwrite), reason))
	q.Respond("")
	r.notify()
}

func (r *resource) undrain(q *Request) {
	ranks := r.targets(q, jsonGet(q.Payload(), "targets").Str)
	if ranks == nil {
		return
	}
	for _, rank := range ranks {
		if r.drained[rank] == nil {
			q.RespondError(syscall.EEXIST, fmt.Sprintf("rank %d not drained", rank))
			return
		}
	}
	for _, rank := range ranks {
		delete(r.drained, rank)
	}
	q.Respond("")
	r.notify()
}

// targets reads ranks, or else host names.
func (r *resource) targets(q *Request, s string) []int {
	ranks, err := decodeIDs(s)
	if err != nil {
		ranks = nil
		for rank := range r.in.brokers {
			if r.in.Hostname(rank) == s {
				ranks = append(ranks, rank)
			}
		}
		if ranks == nil {
			q.RespondError(syscall.EINVAL, "invalid targets: invalid hosts: "+s)
			return nil
		}
	}
	switch {
	case len(ranks) == 0:
		q.RespondError(syscall.EINVAL, "idset is empty")
		return nil
	case ranks[len(ranks)-1] >= len(r.in.brokers):
		q.RespondError(syscall.EINVAL, "idset is out of range")
		return nil
	}
	return ranks
}

func (r *resource) split() (up, down []int) {
	for rank, b := range r.in.brokers {
		if b.up {
			up = append(up, rank)
		} else {
			down = append(down, rank)
		}
	}
	return up, down
}

func (r *resource) status(q *Request) {
	info := map[string]any{}
	byReason := map[string][]int{}
	for rank, d := range r.drained {
		k := fmt.Sprintf("%.0f %s", math.Round(d.Time), d.Reason)
		byReason[k] = append(byReason[k], rank)
	}
	for _, ranks := range byReason {
		sort.Ints(ranks)
		d := r.drained[ranks[0]]
		info[encodeIDs(ranks)] = map[string]any{"timestamp": math.Round(d.Time), "reason": d.Reason}
	}
	up, down := r.split()
	q.Respond(fmt.Sprintf(`{"R":%s,"drain":%s,"online":%s,"offline":%s,"exclude":%s,"torpid":""}`,
		r.inventory(), marshal(info), quote(encodeIDs(up)), quote(encodeIDs(down)), quote(encodeIDs(r.exclude))))
}

func (r *resource) schedStatus(q *Request) {
	down, allocated := coreSet{}, coreSet{}
	inv := coreSet{}
	inv.addR(r.inventory())
	for rank, c := range inv {
		if !r.usable(rank) {
			down[rank] = c
		}
	}
	for _, j := range r.in.jm.active {
		if j.r != "" && !j.freePosted {
			allocated.addR(j.r)
		}
	}
	q.Respond(fmt.Sprintf(`{"all":%s,"down":%s,"allocated":%s}`,
		r.inventory(), r.in.makeR(down, 0, 0, 0), r.in.makeR(allocated, 0, 0, 0)))
}

func (r *resource) offline([]*broker) { r.in.postSelf(r.self(), r.notify) }
func (r *resource) online([]*broker)  { r.in.postSelf(r.self(), r.notify) }

// Drained gives the drained ranks with their reasons.
func (in *Instance) Drained() map[int]string {
	m := map[int]string{}
	for rank, d := range in.resource.drained {
		m[rank] = d.Reason
	}
	return m
}

// Drains gives all drains that were granted, in order.
func (in *Instance) Drains() []Drain { return append([]Drain(nil), in.resource.drains...) }
