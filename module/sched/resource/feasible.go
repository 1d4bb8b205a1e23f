// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"strings"

	"flux-burrow/module/sched/jobspec"
)

// Feasible tells whether a request could be satisfied if every node were up
// and free (RFC 27, Feasibility): nil, or an error that says in words why not.
// within are the nodes that match the request's constraint, nil for all.
func (s *State) Feasible(req *jobspec.Request, within Bits) error {
	nodes := countIn(s.present, within)
	where := fmt.Sprintf("the %s of the instance", plural(nodes, "node"))
	if within != nil {
		where = fmt.Sprintf("the %s that match the constraint %s", plural(nodes, "node"), req.Constraint)
		if nodes == 0 {
			return fmt.Errorf("unsatisfiable request: no node matches the constraint %s", req.Constraint)
		}
	}
	if nodes == 0 {
		return fmt.Errorf("unsatisfiable request: the instance has no nodes")
	}
	if req.ByNode() {
		return s.feasibleNodes(req, within, where)
	}
	return s.feasibleSlots(req, within, where)
}

func (s *State) feasibleNodes(req *jobspec.Request, within Bits, where string) error {
	cores, gpus := req.Slots.Min*req.Cores.Min, req.Slots.Min*req.GPUs.Min
	fit := 0
	for i := range s.present.All() {
		if (within == nil || within.Has(i)) && int(s.totalC[i]) >= cores && int(s.totalG[i]) >= gpus {
			fit++
		}
	}
	if _, ok := req.Nodes.Largest(fit); ok {
		return nil
	}
	what := "node"
	if req.Exclusive {
		what = "whole node"
	}
	return fmt.Errorf("unsatisfiable request: it needs %s with %s each; of %s %d fit",
		plural(req.Nodes.Min, what), amounts(cores, gpus), where, fit)
}

func (s *State) feasibleSlots(req *jobspec.Request, within Bits, where string) error {
	fit := 0
	for i := range s.present.All() {
		if within != nil && !within.Has(i) {
			continue
		}
		n := int(s.totalC[i]) / req.Cores.Min
		if req.GPUs.Min > 0 {
			n = min(n, int(s.totalG[i])/req.GPUs.Min)
		}
		fit += n
	}
	if _, ok := req.Slots.Largest(fit); ok {
		return nil
	}
	return fmt.Errorf("unsatisfiable request: it needs %s of %s each; %s have room for %d",
		plural(req.Slots.Min, "slot"), amounts(req.Cores.Min, req.GPUs.Min), where, fit)
}

// Lack says in words what a request waits for, where Find found no place.
func (s *State) Lack(req *jobspec.Request, within Bits) string {
	if req.Exclusive {
		return fmt.Sprintf("needs %s, %d are free",
			plural(req.Nodes.Min, "whole node"), s.Idle(within))
	}
	if req.ByNode() {
		return fmt.Sprintf("needs %s with %s free each, of %s that can be used",
			plural(req.Nodes.Min, "node"), amounts(req.Slots.Min*req.Cores.Min, req.Slots.Min*req.GPUs.Min),
			plural(s.Usable(within), "node"))
	}
	return fmt.Sprintf("needs %s of %s, on %s that can be used",
		plural(req.Slots.Min, "slot"), amounts(req.Cores.Min, req.GPUs.Min), plural(s.Usable(within), "node"))
}

func amounts(cores, gpus int) string {
	parts := []string{plural(cores, "core")}
	if gpus > 0 {
		parts = append(parts, plural(gpus, "gpu"))
	}
	return strings.Join(parts, " and ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
