// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"strings"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// Restored says how the R of a job that was there before went into the pool.
type Restored struct {
	Alloc *Alloc
	// Doubts are what did not fit, in words, one for each kind of misfit. Empty
	// if all of R is held as it says.
	Doubts []string
	// Clash tells that another job holds some of it: one of the two R is wrong.
	Clash bool
}

// maxDoubts is how many misfits of one job are told one by one.
const maxDoubts = 4

// Restore gives a job what it holds already, as its R was mapped onto the
// inventory. What another job holds too stays that job's; the node is fenced
// until this one ends, as are the nodes of which the mapping is in doubt.
// Nothing is held at the ranks in free, which the job has let go of: another
// may be there by now.
func (p *Pool) Restore(id jobid.ID, m *rv1reader.Mapping, free *idset.Set, expiration float64) (Restored, error) {
	if p.jobs[id] != nil {
		return Restored{}, fmt.Errorf("job %s is there already", id)
	}
	a := &Alloc{ID: id, Expiration: expiration, Recovered: true}
	var out Restored
	out.Alloc = a
	doubt := m.Doubt.Difference(neighbours(m))
	clash := &idset.Set{}
	if free == nil {
		free = &idset.Set{}
	}
	for rank, children := range m.Set.All() {
		i, ok := p.byRank[rank]
		if !ok || free.Contains(rank) { // a mapping is within the inventory
			continue
		}
		nd := &p.nodes[i]
		part := Part{Node: int32(i), Cores: nd.kind.allC, GPUs: nd.kind.allG}
		if !children.Equal(nd.kind.children) {
			part.Cores = positions(nd.kind.cores, children.Cores())
			part.GPUs = positions(nd.kind.gpus, children.GPUs())
		}
		if !within(part.Cores, nd.cores) || !within(part.GPUs, nd.gpus) {
			clash.Add(rank)
			part.Cores, part.GPUs = part.Cores.Clone(), part.GPUs.Clone()
			part.Cores.And(nd.cores)
			part.GPUs.And(nd.gpus)
		}
		p.hold(&part)
		a.Parts = append(a.Parts, part)
	}
	a.held = len(a.Parts)
	doubt.AddSet(clash)
	for _, problem := range m.Problems {
		if problem.Kind == rv1reader.HostMoved {
			a.FencesLast = true
		}
		if !free.ContainsAll(problem.Ranks) {
			out.tell(problem.Error())
		}
	}
	if !a.FencesLast {
		doubt = doubt.Difference(free)
	}
	if !clash.Empty() {
		out.Clash = true
		out.tell(fmt.Sprintf("rank %s: another job (%s) holds the same cores or gpus", clash, p.holders(id, clash.First())))
	}
	p.jobs[id] = a
	p.Fence(a, doubt)
	return out, nil
}

// neighbours returns the ranks that are in doubt for no other reason than that
// they share a host with a rank that is gone. Where several brokers run on one
// host its name does not tell them apart, and the rank alone says which of
// them had the job: none that is still there.
func neighbours(m *rv1reader.Mapping) *idset.Set {
	shared, others := &idset.Set{}, &idset.Set{}
	if m.More > 0 {
		return shared // not all reasons are known
	}
	for _, p := range m.Problems {
		switch {
		case p.Kind == rv1reader.HostMoved && len(p.HostRanks) > 1 && p.InventoryHost == "":
			shared.AddSet(idset.New(p.HostRanks...))
		default:
			others.AddSet(p.Ranks)
			others.AddSet(idset.New(p.HostRanks...))
		}
	}
	return shared.Difference(others)
}

func (r *Restored) tell(s string) {
	if len(r.Doubts) == maxDoubts {
		s = "and more"
	}
	if len(r.Doubts) <= maxDoubts {
		r.Doubts = append(r.Doubts, s)
	}
}

// RestoreFenced keeps others off all of the given ranks until the job's free:
// what the job holds there is not known.
func (p *Pool) RestoreFenced(id jobid.ID, ranks *idset.Set) (*Alloc, error) {
	if p.jobs[id] != nil {
		return nil, fmt.Errorf("job %s is there already", id)
	}
	a := &Alloc{ID: id, Recovered: true}
	p.jobs[id] = a
	p.Fence(a, ranks)
	return a, nil
}

// Fence keeps others off the nodes at ranks until the job's free.
func (p *Pool) Fence(a *Alloc, ranks *idset.Set) {
	p.each(ranks, func(i int) {
		p.fence(i, 1)
		a.Fences = append(a.Fences, int32(i))
	})
}

// holders names the jobs, other than id, that hold something at a rank.
func (p *Pool) holders(id jobid.ID, rank int) string {
	i := int32(p.byRank[rank])
	var names []string
	for _, a := range p.Allocs() {
		for k := range a.Parts {
			if a.ID != id && a.Parts[k].Node == i && !a.Parts[k].freed {
				names = append(names, a.ID.String())
			}
		}
	}
	return strings.Join(names, ", ")
}

// positions turns ids into positions; ids that are not there are left out.
func positions(ids []int, want *idset.Set) Bits {
	b := NewBits(len(ids))
	for run := range want.Runs() {
		for at, id := range ids {
			if id >= run.Lo && id <= run.Hi {
				b.Set(at)
			}
		}
	}
	return b
}

func within(b, of Bits) bool {
	for i := range b {
		if b[i]&^of[i] != 0 {
			return false
		}
	}
	return true
}
