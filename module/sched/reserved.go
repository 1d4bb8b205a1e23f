// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"

	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/reserve"
)

// block tells the plan of the advance reservations that are not over.
func (e *Engine) block() {
	e.finishPass()
	var list []policy.Block
	for _, r := range e.reservations.List() {
		if r.State(e.host.Now()) == reserve.Over {
			continue
		}
		list = append(list, policy.Block{
			Name: r.Name, Nodes: e.pool.NodesAt(r.Ranks), Start: r.Start, End: r.End, Users: r.Users,
		})
	}
	e.plan.SetBlocks(list)
	e.kick()
}

// reservationFault says why a request can't run in the advance reservation that
// it names; nil if it can or names none.
func (e *Engine) reservationFault(req *jobspec.Request) error {
	if req.Reservation == "" {
		return nil
	}
	r := e.reservations.Get(req.Reservation)
	now := e.host.Now()
	if r == nil || r.State(now) == reserve.Over {
		return fmt.Errorf("unsatisfiable request: there is no advance reservation %q", req.Reservation)
	}
	if left := r.End - max(r.Start, now); req.Duration > left {
		return fmt.Errorf("unsatisfiable request: its limit of %g s is longer than the advance reservation %s, of which %.0f s are left",
			req.Duration, r.Name, left)
	}
	sc, err := e.queue.Shape(req, 0).Check(e.pool, exclusive{e})
	if err != nil {
		return err
	}
	nodes := e.pool.NodesAt(r.Ranks)
	if sc.Within != nil {
		nodes.And(sc.Within)
	}
	sc.Within = nodes
	if e.pool.Feasible(req, sc) != nil {
		return fmt.Errorf("unsatisfiable request: of the %d nodes of the advance reservation %s too few fit",
			r.Ranks.Count(), r.Name)
	}
	return nil
}
