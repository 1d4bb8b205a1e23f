// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"sort"
	"strings"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// R returns the R (RFC 20) of an allocation that Book made. Properties that
// are local to the instance, those that begin with +, are not in it.
func (p *Pool) R(a *Alloc, starttime float64) *rv1reader.R {
	set := p.set(a.Parts)
	r := p.describe(set, func(name string) bool { return !strings.HasPrefix(name, "+") })
	r.Starttime, r.Expiration, r.NSlots = starttime, a.Expiration, a.NSlots
	return r
}

// All returns the R of all nodes that are part of the instance.
func (p *Pool) All() *rv1reader.R {
	return p.describe(p.whole(func(i int) bool { return p.present.Has(i) }), everyName)
}

// Down returns the R of the nodes that jobs are not given anything of. Nodes
// that a job in doubt fences are not down.
func (p *Pool) Down() *rv1reader.R {
	return p.describe(p.whole(func(i int) bool { return p.present.Has(i) && !p.up.Has(i) }), everyName)
}

// Allocated returns the R of what jobs hold, the whole of fenced nodes with
// it.
func (p *Pool) Allocated() *rv1reader.R {
	var parts []Part
	for i := range p.nodes {
		nd := &p.nodes[i]
		if p.users[i] == 0 && p.fences[i] == 0 {
			continue
		}
		part := Part{Node: int32(i), Cores: nd.kind.allC, GPUs: nd.kind.allG}
		if p.fences[i] == 0 {
			part.Cores, part.GPUs = nd.kind.allC.Clone(), nd.kind.allG.Clone()
			part.Cores.AndNot(nd.cores)
			part.GPUs.AndNot(nd.gpus)
		}
		parts = append(parts, part)
	}
	return p.describe(p.set(parts), everyName)
}

// Held returns what some jobs hold, without the rest of fenced nodes.
func (p *Pool) Held(by func(jobid.ID) bool) *rv1reader.ResourceSet {
	at := make([]Part, len(p.nodes))
	for id, a := range p.jobs {
		if !by(id) {
			continue
		}
		for k := range a.Parts {
			part := &a.Parts[k]
			sum := &at[part.Node]
			switch {
			case part.freed:
			case sum.Cores == nil:
				*sum = Part{Node: part.Node, Cores: part.Cores.Clone(), GPUs: part.GPUs.Clone()}
			default:
				sum.Cores.Or(part.Cores)
				sum.GPUs.Or(part.GPUs)
			}
		}
	}
	var parts []Part
	for i := range at {
		if at[i].Cores != nil {
			parts = append(parts, at[i])
		}
	}
	return p.set(parts)
}

func everyName(string) bool { return true }

func (p *Pool) whole(in func(int) bool) *rv1reader.ResourceSet {
	var parts []Part
	for i := range p.nodes {
		if in(i) {
			parts = append(parts, Part{Node: int32(i), Cores: p.nodes[i].kind.allC, GPUs: p.nodes[i].kind.allG})
		}
	}
	return p.set(parts)
}

// set turns parts, by node, into a set of resources. Neighbours that hold the
// same are one group, so that a job of many equal nodes costs one.
func (p *Pool) set(parts []Part) *rv1reader.ResourceSet {
	var groups []rv1reader.Group
	var last *Part
	for i := range parts {
		part := &parts[i]
		if part.freed {
			continue
		}
		nd := &p.nodes[part.Node]
		if last == nil || p.nodes[last.Node].kind != nd.kind ||
			!last.Cores.Equal(part.Cores) || !last.GPUs.Equal(part.GPUs) {
			groups = append(groups, rv1reader.Group{Ranks: &idset.Set{}, Children: nd.kind.part(part)})
		}
		groups[len(groups)-1].Ranks.Add(nd.rank)
		last = part
	}
	return rv1reader.NewResourceSet(groups...)
}

// part gives the children that a part is.
func (k *kind) part(part *Part) rv1reader.Children {
	if part.Cores.Equal(k.allC) && part.GPUs.Equal(k.allG) {
		return k.children
	}
	cores, gpus := &idset.Set{}, &idset.Set{}
	for at := range part.Cores.All() {
		cores.Add(k.cores[at])
	}
	for at := range part.GPUs.All() {
		gpus.Add(k.gpus[at])
	}
	return rv1reader.CoresGPUs(cores, gpus)
}

// describe adds the nodelist and the properties to a set of resources.
func (p *Pool) describe(set *rv1reader.ResourceSet, keep func(name string) bool) *rv1reader.R {
	r := &rv1reader.R{Set: set, Ranks: set.Ranks()}
	at := &idset.Set{}
	nodes := NewBits(p.Len())
	p.each(r.Ranks, func(i int) {
		at.Add(i)
		nodes.Set(i)
	})
	if list := p.inv.Nodelist(); list != nil {
		r.Nodelist = list.Slice(at)
	}
	names := make([]string, 0, len(p.props))
	for name := range p.props {
		if keep(name) && p.props[name].Overlaps(nodes) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		both := p.props[name].Clone()
		both.And(nodes)
		ranks := &idset.Set{}
		for i := range both.All() {
			ranks.Add(p.nodes[i].rank)
		}
		r.Properties = append(r.Properties, rv1reader.Property{Name: name, Ranks: ranks})
	}
	return r
}

// Tally counts nodes.
type Tally struct {
	All    int `json:"all"`    // of the instance
	Up     int `json:"up"`     // jobs may be given them
	Idle   int `json:"idle"`   // wholly free
	Fenced int `json:"fenced"` // kept from others by a job in doubt
}

// Tally counts the nodes.
func (p *Pool) Tally() Tally {
	t := Tally{All: p.present.Count(), Up: p.up.Count(), Idle: p.idle.Count()}
	for _, n := range p.fences {
		if n > 0 {
			t.Fenced++
		}
	}
	return t
}
