// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"strings"

	"flux-burrow/module/sched/jobspec"
)

// Feasible tells whether a request could be satisfied if every node were up
// and free (RFC 27, Feasibility): nil, or an error that says in words why not.
// Scope.Within are the nodes that match the request's constraint.
func (s *State) Feasible(req *jobspec.Request, sc Scope) error {
	nodes := sc.count(s.present)
	where := fmt.Sprintf("the %s of the instance", plural(nodes, "node"))
	if sc.Within != nil {
		where = fmt.Sprintf("the %s that match the constraint %s", plural(nodes, "node"), req.Constraint)
		if nodes == 0 {
			return fmt.Errorf("unsatisfiable request: no node matches the constraint %s", req.Constraint)
		}
	}
	if nodes == 0 {
		return fmt.Errorf("unsatisfiable request: the instance has no nodes")
	}
	fit, room := s.fitting(req, sc, s.present)
	if enough(req, fit.Count(), room) {
		return nil
	}
	if req.ByNode() {
		return fmt.Errorf("unsatisfiable request: it needs %s each; of %s %d fit", needs(req, sc, " with "), where, fit.Count())
	}
	return fmt.Errorf("unsatisfiable request: it needs %s each; %s have room for %d", needs(req, sc, " of "), where, room)
}

// FeasibleUp tells whether a request could be satisfied if all that is up were
// free.
func (s *State) FeasibleUp(req *jobspec.Request, sc Scope) bool {
	fit, room := s.fitting(req, sc, s.Up())
	return enough(req, fit.Count(), room)
}

// Fitting returns the nodes of the instance, up or not, on which a part of the
// request fits when they are free.
func (s *State) Fitting(req *jobspec.Request, sc Scope) Bits {
	fit, _ := s.fitting(req, sc, s.present)
	return fit
}

// fitting returns the nodes of base on which a node's share of the request, or
// one slot of it, fits when they are free, and for how many slots they have
// room in all.
func (s *State) fitting(req *jobspec.Request, sc Scope, base Bits) (fit Bits, room int) {
	fit = NewBits(s.Len())
	cores, gpus := req.Share()
	sc.in(base, func(i int) bool {
		if n := Times(s.totalC[i], s.totalG[i], cores, gpus); n > 0 {
			fit.Set(i)
			room += n
		}
		return true
	})
	return fit, room
}

// Times tells how often a share of cores and gpus fits into what there is.
func Times(c, g int32, cores, gpus int) int {
	n := int(c) / cores
	if gpus > 0 {
		n = min(n, int(g)/gpus)
	}
	return n
}

func enough(req *jobspec.Request, nodes, room int) bool {
	have, want := room, req.Slots
	if req.ByNode() {
		have, want = nodes, req.Nodes
	}
	_, ok := want.Largest(have)
	return ok
}

// needs says in words what a request asks for.
func needs(req *jobspec.Request, sc Scope, link string) string {
	cores, gpus := req.Share()
	if !req.ByNode() {
		return plural(req.Slots.Min, "slot") + link + amounts(cores, gpus)
	}
	what := "node"
	if req.Exclusive || sc.AllWhole {
		what = "whole node"
	}
	return plural(req.Nodes.Min, what) + link + amounts(cores, gpus)
}

// Needs says in words what a request asks for.
func (s *State) Needs(req *jobspec.Request, sc Scope) string {
	return "needs " + needs(req, sc, " of ")
}

// Lack says in words what a request waits for, where Find found no place.
func (s *State) Lack(req *jobspec.Request, sc Scope) string {
	if req.ByNode() && (req.Exclusive || sc.AllWhole) {
		n := sc.count(s.idle)
		are := "are"
		if n == 1 {
			are = "is"
		}
		return fmt.Sprintf("needs %s, %d %s free", plural(req.Nodes.Min, "whole node"), n, are)
	}
	if req.ByNode() {
		return fmt.Sprintf("needs %s free each, of %s that can be used", needs(req, sc, " with "), plural(s.usableIn(sc), "node"))
	}
	return fmt.Sprintf("needs %s, on %s that can be used", needs(req, sc, " of "), plural(s.usableIn(sc), "node"))
}

func (s *State) usableIn(sc Scope) int {
	n := 0
	sc.in(s.up, func(i int) bool {
		if s.usable(i) {
			n++
		}
		return true
	})
	return n
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

// Weight returns how much a node counts for a request if so much is free on
// it: 1 or 0 where the request asks for nodes, else the slots that fit.
func (s *State) Weight(req *jobspec.Request, sc Scope, i int, c, g int32) int {
	if s.totalC[i] == 0 || sc.whole(i) && (c < s.totalC[i] || g < s.totalG[i]) {
		return 0
	}
	cores, gpus := req.Share()
	n := Times(c, g, cores, gpus)
	if req.ByNode() {
		return min(n, 1)
	}
	return n
}
