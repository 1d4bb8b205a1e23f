// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"errors"
	"math"
	"syscall"

	"flux-burrow/module/sched/constraint"
	"flux-burrow/module/sched/reserve"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// onReserveAdd makes a reservation. What runs past its beginning on its nodes
// is listed, and not touched.
func (e *Engine) onReserveAdd(payload string, q Request) {
	res, err := reserve.ParseAdd(payload)
	if err == nil && len(res.Rabbits) > 0 {
		err = coded{syscall.EOPNOTSUPP, "rabbits: this scheduler gives out no rabbit storage yet: reserve nodes only"}
	}
	if err != nil {
		e.respondError(q, err)
		return
	}
	e.queueReserve(&reserveAsk{
		request: q.Keep(),
		change: func(b *reserve.Book) error {
			return b.Add(res, reservable{e.pool}, e.host.Now())
		},
		answer: func() any {
			r := e.reservations.Get(res.Name)
			e.log(Info, "reservation %s: rank %s", r.Name, r.Ranks)
			return reserve.AddResponse{
				Name: r.Name, Ranks: r.Ranks, Hosts: e.hostsOf(r.Ranks),
				Start: r.Start, End: r.End, Running: e.runningIn(r),
			}
		},
	})
}

func (e *Engine) onReserveRemove(payload string, q Request) {
	in, err := reserve.ParseRemove(payload)
	if err != nil {
		e.respondError(q, err)
		return
	}
	e.queueReserve(&reserveAsk{
		request: q.Keep(),
		change:  func(b *reserve.Book) error { return b.Remove(in.Name) },
		answer: func() any {
			e.log(Info, "reservation %s is removed", in.Name)
			return reserve.RemoveResponse(in)
		},
	})
}

func (e *Engine) onReserveList(_ string, q Request) {
	e.queueReserve(&reserveAsk{request: q.Keep(), answer: func() any { return e.listReservations() }})
}

func (e *Engine) listReservations() reserve.ListResponse {
	out := reserve.ListResponse{Reservations: []reserve.Listed{}}
	now := e.host.Now()
	for _, r := range e.reservations.List() {
		if r.State(now) == reserve.Over {
			continue
		}
		l := r.List(now)
		l.Hosts = e.hostsOf(r.Ranks)
		for _, job := range e.runningIn(r) {
			l.Jobs = append(l.Jobs, job.ID)
		}
		out.Reservations = append(out.Reservations, l)
	}
	return out
}

// runningIn gives the jobs that hold nodes of a reservation in its time: those
// that run in it, and those that run past its beginning.
func (e *Engine) runningIn(r *reserve.Reservation) []reserve.Running {
	list := []reserve.Running{}
	nodes := e.pool.NodesAt(r.Ranks)
	now := e.host.Now()
	for _, a := range e.pool.Allocs() {
		if endOf(a, now) <= r.Start || !a.Among(nodes) {
			continue
		}
		held := a.NodeSet(e.pool.Len())
		held.And(nodes)
		list = append(list, reserve.Running{ID: uint64(a.ID), Ranks: e.pool.Ranks(held), Expiration: a.Expiration})
	}
	return list
}

// endOf is when a job ends at the latest. One past its limit is taken to last
// as long again as it is overdue.
func endOf(a *resource.Alloc, now float64) float64 {
	switch {
	case a.Expiration == 0:
		return math.Inf(1)
	case a.Expiration > now:
		return a.Expiration
	}
	return now + max(1, now-a.Expiration)
}

// hostsOf gives the hosts at ranks, each once.
func (e *Engine) hostsOf(ranks *idset.Set) string {
	list := &hostlist.List{}
	for rank := range ranks.All() {
		list.AppendHost(e.pool.Inventory().Host(rank))
	}
	return list.Uniq().String()
}

func (e *Engine) respondJSON(q Request, answer any) {
	b, err := json.Marshal(answer)
	if err != nil {
		e.respondError(q, err)
		return
	}
	e.respond(q, string(b))
}

func errnoOf(err error) syscall.Errno {
	var num syscall.Errno
	if errors.As(err, &num) && num != 0 {
		return num
	}
	return syscall.EIO
}

// reservable lends the pool's nodes to package reserve.
type reservable struct{ p *resource.Pool }

func (n reservable) All() *idset.Set { return n.p.Ranks(n.p.Present()) }

func (n reservable) Match(x *constraint.Expr) *idset.Set {
	nodes := n.p.Match(x)
	nodes.And(n.p.Present())
	return n.p.Ranks(nodes)
}

func (n reservable) Hosts(hosts *hostlist.List) (*idset.Set, *hostlist.List) {
	ranks, missing := n.p.Inventory().RanksOfHosts(hosts)
	all := n.All()
	for rank := range ranks.Difference(all).All() {
		missing.AppendHost(n.p.Inventory().Host(rank))
	}
	return ranks.Intersect(all), missing
}
