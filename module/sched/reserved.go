// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"

	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/policy"
)

// blocks gives the advance reservations as plans see them.
func (e *Engine) blocks() []policy.Block {
	var list []policy.Block
	for _, r := range e.reservations.List() {
		list = append(list, policy.Block{
			Name: r.Name, Nodes: e.pool.NodesAt(r.Ranks), Start: r.Start, End: r.End, Users: r.Users,
		})
	}
	return list
}

// reservationFault says why a request can't run in the advance reservation that
// it names; nil if it can or names none.
func (e *Engine) reservationFault(req *jobspec.Request) error {
	if req.Reservation == "" {
		return nil
	}
	r := e.reservations.Get(req.Reservation)
	if r == nil {
		return fmt.Errorf("unsatisfiable request: there is no advance reservation %q", req.Reservation)
	}
	if length := r.End - r.Start; req.Duration > length {
		return fmt.Errorf("unsatisfiable request: its limit of %g s is longer than the advance reservation %s, which lasts %g s",
			req.Duration, r.Name, length)
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
