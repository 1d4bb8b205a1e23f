// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import "flux-burrow/module/sched/jobspec"

// Pick is a place that was found for a request: how much of which nodes. It
// holds as long as the State is not changed.
type Pick struct {
	Takes  []Take
	NSlots int
}

// Take is what is taken of one node.
type Take struct {
	Node        int32
	Slots       int32
	Cores, GPUs int32 // of a whole node all that it has
	Whole       bool
}

// Find looks for a place for a request, now; false if there is none. Where the
// request gives a range it takes as many nodes or slots as it can get, then
// grows the slots.
func (s *State) Find(req *jobspec.Request, o Order, sc Scope) (*Pick, bool) {
	if req.ByNode() {
		return s.findNodes(req, o, sc)
	}
	return s.findSlots(req, o, sc)
}

// Could tells, at little cost, that there may be a place for a request: where
// it says no, Find finds none.
func (s *State) Could(req *jobspec.Request, sc Scope) bool {
	switch {
	case req.ByNode() && (req.Exclusive || sc.AllWhole):
		return sc.count(s.idle) >= req.Nodes.Min
	case req.ByNode():
		return sc.count(s.some) >= req.Nodes.Min
	}
	room := 0
	for k := req.Cores.Min; k < len(s.nFree); k++ {
		room += int(s.nFree[k]) * (k / req.Cores.Min)
	}
	return room >= req.Slots.Min
}

func (s *State) findNodes(req *jobspec.Request, o Order, sc Scope) (*Pick, bool) {
	cores := req.Slots.Min * req.Cores.Min
	gpus := req.Slots.Min * req.GPUs.Min
	sc.AllWhole = sc.AllWhole || req.Exclusive
	pick := &Pick{Takes: make([]Take, 0, min(req.Nodes.Min, s.Len()))}
	for i := range s.candidates(o, cores, sc) {
		if int(s.freeG[i]) < gpus {
			continue
		}
		pick.Takes = append(pick.Takes, Take{Node: int32(i), Whole: sc.whole(i)})
		if len(pick.Takes) == req.Nodes.Max {
			break
		}
	}
	n, ok := req.Nodes.Largest(len(pick.Takes))
	if !ok {
		return nil, false
	}
	pick.Takes = pick.Takes[:n]
	slots := s.grow(pick, req.Slots, func(i, k int) bool {
		return int(s.freeC[i]) >= k*req.Cores.Min && int(s.freeG[i]) >= k*req.GPUs.Min
	})
	for i := range pick.Takes {
		pick.Takes[i].Slots = int32(slots)
	}
	pick.NSlots = req.NSlots(n, slots)
	s.fillSlots(req, pick)
	return pick, true
}

func (s *State) findSlots(req *jobspec.Request, o Order, sc Scope) (*Pick, bool) {
	pick := &Pick{}
	total := 0
	for i := range s.candidates(o, req.Cores.Min, sc) {
		fit := int(s.freeC[i]) / req.Cores.Min
		if req.GPUs.Min > 0 {
			fit = min(fit, int(s.freeG[i])/req.GPUs.Min)
		}
		if fit = min(fit, req.Slots.Max-total); fit <= 0 {
			continue
		}
		pick.Takes = append(pick.Takes, Take{Node: int32(i), Slots: int32(fit), Whole: sc.whole(i)})
		if total += fit; total == req.Slots.Max {
			break
		}
	}
	n, ok := req.Slots.Largest(total)
	if !ok {
		return nil, false
	}
	for total > n { // the last ones go
		last := &pick.Takes[len(pick.Takes)-1]
		drop := min(total-n, int(last.Slots))
		total -= drop
		if last.Slots -= int32(drop); last.Slots == 0 {
			pick.Takes = pick.Takes[:len(pick.Takes)-1]
		}
	}
	pick.NSlots = n
	s.fillSlots(req, pick)
	return pick, true
}

// fillSlots sets how many cores and gpus each take has. All slots of a job are
// of the same size, so a range takes the largest that every node has room for.
func (s *State) fillSlots(req *jobspec.Request, pick *Pick) {
	take := func(i int) *Take { return &pick.Takes[i] }
	cores := s.growTakes(pick, req.Cores, func(i, k int) bool {
		return int(s.freeC[take(i).Node]) >= k*int(take(i).Slots)
	})
	gpus := s.growTakes(pick, req.GPUs, func(i, k int) bool {
		return int(s.freeG[take(i).Node]) >= k*int(take(i).Slots)
	})
	for i := range pick.Takes {
		t := take(i)
		t.Cores, t.GPUs = t.Slots*int32(cores), t.Slots*int32(gpus)
		if t.Whole {
			t.Cores, t.GPUs = s.totalC[t.Node], s.totalG[t.Node]
		}
	}
}

// grow returns the largest acceptable count that fits every node of a pick;
// the smallest is known to fit.
func (s *State) grow(pick *Pick, c jobspec.Count, fits func(node, k int) bool) int {
	return s.growTakes(pick, c, func(i, k int) bool { return fits(int(pick.Takes[i].Node), k) })
}

func (s *State) growTakes(pick *Pick, c jobspec.Count, fits func(take, k int) bool) int {
	if c.IsFixed() {
		return c.Min
	}
	limit := 0
	for i := range pick.Takes {
		node := pick.Takes[i].Node
		limit = max(limit, int(s.freeC[node]), int(s.freeG[node]))
	}
	for limit > c.Min {
		k, ok := c.Largest(limit)
		if !ok {
			break
		}
		all := true
		for i := 0; i < len(pick.Takes) && all; i++ {
			all = fits(i, k)
		}
		if all {
			return k
		}
		limit = k - 1
	}
	return c.Min
}
