// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"sort"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader/idset"
)

// Alloc is what one job holds.
type Alloc struct {
	ID jobid.ID
	// Parts are what it holds of each node, by node. They are changed by the
	// pool only.
	Parts []Part
	// Fences are nodes that nobody is given anything of until the job's free,
	// since it is in doubt what the job holds there.
	Fences []int32
	// FencesLast keeps the fences until the last of the job is freed: the ranks
	// that its R names are not those of its nodes.
	FencesLast bool
	// Expiration is when the job ends at the latest, in seconds since 1970; 0
	// for no limit.
	Expiration float64
	// NSlots is the number of slots, for R; 0 for jobs that were recovered.
	NSlots int
	// Recovered tells a job that was there before this scheduler.
	Recovered bool

	held int // parts that are not freed
}

// Part is what a job holds of one node, as positions in the node's ids.
type Part struct {
	Node        int32
	freed       bool
	Cores, GPUs Bits
}

// Held yields by node the numbers of cores and gpus that the job holds.
func (a *Alloc) Held(yield func(node int, free [2]int32) bool) {
	for i := range a.Parts {
		p := &a.Parts[i]
		if !p.freed && !yield(int(p.Node), [2]int32{int32(p.Cores.Count()), int32(p.GPUs.Count())}) {
			return
		}
	}
}

// Nodes returns how many nodes the job holds something of.
func (a *Alloc) Nodes() int { return a.held }

// NodeSet returns the nodes, of n, that the job holds something of, and the
// fenced ones.
func (a *Alloc) NodeSet(n int) Bits {
	b := NewBits(n)
	for i := range a.Parts {
		if !a.Parts[i].freed {
			b.Set(int(a.Parts[i].Node))
		}
	}
	for _, i := range a.Fences {
		b.Set(int(i))
	}
	return b
}

// Alloc returns what a job holds; nil if the job is not known.
func (p *Pool) Alloc(id jobid.ID) *Alloc { return p.jobs[id] }

// Jobs returns the number of jobs that hold anything.
func (p *Pool) Jobs() int { return len(p.jobs) }

// Each calls f for all allocations, in no order.
func (p *Pool) Each(f func(a *Alloc)) {
	for _, a := range p.jobs {
		f(a)
	}
}

// Allocs returns all allocations, by job id.
func (p *Pool) Allocs() []*Alloc {
	list := make([]*Alloc, 0, len(p.jobs))
	for _, a := range p.jobs {
		list = append(list, a)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Book gives a job what Find found for it. The pool must not have changed
// since.
func (p *Pool) Book(id jobid.ID, pick *Pick, expiration float64) (*Alloc, error) {
	if p.jobs[id] != nil {
		return nil, fmt.Errorf("job %s has resources already", id)
	}
	a := &Alloc{ID: id, Parts: make([]Part, len(pick.Takes)), Expiration: expiration, NSlots: pick.NSlots}
	for n := range pick.Takes {
		t := &pick.Takes[n]
		nd := &p.nodes[t.Node]
		part := Part{Node: t.Node, Cores: nd.kind.allC, GPUs: nd.kind.allG}
		if !t.Whole {
			part.Cores, part.GPUs = nd.cores.lowest(int(t.Cores)), nd.gpus.lowest(int(t.GPUs))
		}
		p.hold(&part)
		a.Parts[n] = part
	}
	sort.Slice(a.Parts, func(i, j int) bool { return a.Parts[i].Node < a.Parts[j].Node })
	a.held = len(a.Parts)
	p.jobs[id] = a
	return a, nil
}

func (p *Pool) hold(part *Part) {
	nd := &p.nodes[part.Node]
	nd.cores.AndNot(part.Cores)
	nd.gpus.AndNot(part.GPUs)
	p.take(int(part.Node), int32(part.Cores.Count()), int32(part.GPUs.Count()))
}

func (p *Pool) drop(part *Part) {
	nd := &p.nodes[part.Node]
	nd.cores.Or(part.Cores)
	nd.gpus.Or(part.GPUs)
	p.give(int(part.Node), int32(part.Cores.Count()), int32(part.GPUs.Count()))
	part.freed = true
}

// FreeRanks gives back what a job holds at ranks, and lifts its fences there.
// It returns the number of nodes; ranks where the job holds nothing are passed
// over. The job stays known, if it holds nothing any more too.
func (p *Pool) FreeRanks(id jobid.ID, ranks *idset.Set) int {
	a := p.jobs[id]
	if a == nil {
		return 0
	}
	n := 0
	p.each(ranks, func(i int) {
		k := sort.Search(len(a.Parts), func(k int) bool { return int(a.Parts[k].Node) >= i })
		if k < len(a.Parts) && int(a.Parts[k].Node) == i && !a.Parts[k].freed {
			p.drop(&a.Parts[k])
			a.held--
			n++
		}
		if a.FencesLast {
			return
		}
		for k, f := range a.Fences {
			if int(f) == i {
				p.fence(i, -1)
				a.Fences = append(a.Fences[:k], a.Fences[k+1:]...)
				break
			}
		}
	})
	return n
}

// Free gives back all that a job holds and forgets the job. It returns the
// number of nodes and whether the job was known.
func (p *Pool) Free(id jobid.ID) (nodes int, known bool) {
	a := p.jobs[id]
	if a == nil {
		return 0, false
	}
	nodes = a.held
	for i := range a.Parts {
		if !a.Parts[i].freed {
			p.drop(&a.Parts[i])
		}
	}
	for _, i := range a.Fences {
		p.fence(int(i), -1)
	}
	a.held, a.Fences = 0, nil
	delete(p.jobs, id)
	return nodes, true
}
