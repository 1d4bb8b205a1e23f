// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// Pool is the instance's resources and the jobs that hold them. It is used by
// one thread.
type Pool struct {
	*State
	inv    *rv1reader.Inventory
	nodes  []node
	byRank map[int]int
	byHost map[string][]int32 // made when a constraint first names hosts
	props  map[string]Bits
	jobs   map[jobid.ID]*Alloc
	// generation changes with anything that a cached set of nodes or a verdict
	// on satisfiability depends on, ups with what is up too.
	generation, ups uint64
}

// node is what there is and what is free on one node.
type node struct {
	rank        int
	kind        *kind
	cores, gpus Bits // free, by position in the kind's ids
}

// kind is shared by nodes that have the same cores and gpus.
type kind struct {
	children    rv1reader.Children
	cores, gpus []int // the ids by position
	allC, allG  Bits
}

func newKind(c rv1reader.Children) *kind {
	k := &kind{children: c}
	for id := range c.Cores().All() {
		k.cores = append(k.cores, id)
	}
	for id := range c.GPUs().All() {
		k.gpus = append(k.gpus, id)
	}
	k.allC, k.allG = FullBits(len(k.cores)), FullBits(len(k.gpus))
	return k
}

// New makes the pool of an inventory. All nodes are down until Up says
// otherwise, as RFC 28 has it.
func New(inv *rv1reader.Inventory) *Pool {
	n := inv.Ranks().Count()
	p := &Pool{
		State:  newState(n),
		inv:    inv,
		nodes:  make([]node, n),
		byRank: make(map[int]int, n),
		props:  map[string]Bits{},
		jobs:   map[jobid.ID]*Alloc{},
	}
	i := 0
	for rank := range inv.Ranks().All() {
		p.nodes[i].rank = rank
		p.byRank[rank] = i
		i++
	}
	none := newKind(nil)
	for i := range p.nodes {
		p.nodes[i].kind = none
	}
	kinds := map[string]*kind{}
	for run, children := range inv.Set().Runs() {
		key := children.String()
		k := kinds[key]
		if k == nil {
			k = newKind(children)
			kinds[key] = k
		}
		for rank := run.Lo; rank <= run.Hi; rank++ {
			p.nodes[p.byRank[rank]].kind = k
		}
	}
	p.fillNodes()
	for _, prop := range inv.R().Properties {
		p.AddProperty(prop.Name, prop.Ranks)
	}
	return p
}

// fillNodes makes everything free.
func (p *Pool) fillNodes() {
	size := 0
	for i := range p.nodes {
		size += len(p.nodes[i].kind.allC) + len(p.nodes[i].kind.allG)
	}
	back := make(Bits, size) // one piece of memory for all nodes
	for i := range p.nodes {
		nd := &p.nodes[i]
		c, g := len(nd.kind.allC), len(nd.kind.allG)
		nd.cores, nd.gpus, back = back[:c:c], back[c:c+g:c+g], back[c+g:]
		copy(nd.cores, nd.kind.allC)
		copy(nd.gpus, nd.kind.allG)
		p.totalC[i], p.totalG[i] = int32(len(nd.kind.cores)), int32(len(nd.kind.gpus))
		p.freeC[i], p.freeG[i] = p.totalC[i], p.totalG[i]
		p.settle(i)
	}
}

// Inventory returns what the pool was made of.
func (p *Pool) Inventory() *rv1reader.Inventory { return p.inv }

// Rank returns the rank of a node.
func (p *Pool) Rank(i int) int { return p.nodes[i].rank }

// Generation changes whenever a set of nodes that Match gave, or a verdict of
// Feasible, may no longer hold.
func (p *Pool) Generation() uint64 { return p.generation }

// Ups changes whenever Generation does, and when a node goes up or down.
func (p *Pool) Ups() uint64 { return p.ups + p.generation }

// each calls f for the nodes at ranks; ranks that are not known are passed
// over.
func (p *Pool) each(ranks *idset.Set, f func(i int)) {
	for run := range ranks.Runs() {
		if run.Hi-run.Lo >= len(p.nodes) { // an absurd range costs no more than all nodes
			for i := range p.nodes {
				if r := p.nodes[i].rank; r >= run.Lo && r <= run.Hi {
					f(i)
				}
			}
			continue
		}
		for r := run.Lo; r <= run.Hi; r++ {
			if i, ok := p.byRank[r]; ok {
				f(i)
			}
		}
	}
}

// SetUp makes nodes available for jobs, or not (RFC 28: up, down). Jobs that
// are there are not touched.
func (p *Pool) SetUp(ranks *idset.Set, up bool) {
	p.each(ranks, func(i int) {
		p.up.put(i, up)
		p.settle(i)
	})
	p.ups++
}

// Shrink takes nodes out of the instance (RFC 28). Jobs that are there keep
// what they have until their free.
func (p *Pool) Shrink(ranks *idset.Set) {
	p.each(ranks, func(i int) {
		p.present.Clear(i)
		p.up.Clear(i)
		p.settle(i)
	})
	p.generation++
}

// AddProperty gives a property to nodes (RFC 28: property-add).
func (p *Pool) AddProperty(name string, ranks *idset.Set) {
	set := p.props[name]
	if set == nil {
		set = NewBits(p.Len())
		p.props[name] = set
	}
	p.each(ranks, set.Set)
	p.generation++
}

// RemoveProperty takes a property from nodes (RFC 28: property-remove).
func (p *Pool) RemoveProperty(name string, ranks *idset.Set) {
	set := p.props[name]
	if set == nil {
		return
	}
	p.each(ranks, set.Clear)
	if set.Empty() {
		delete(p.props, name)
	}
	p.generation++
}
