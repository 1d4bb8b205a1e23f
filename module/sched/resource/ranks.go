// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import "flux-burrow/rv1reader/idset"

// Present returns the nodes that are part of the instance, up or not.
func (p *Pool) Present() Bits { return p.present.Clone() }

// NodesAt returns the nodes at ranks; ranks that are not known are passed over.
func (p *Pool) NodesAt(ranks *idset.Set) Bits {
	b := NewBits(p.Len())
	p.each(ranks, b.Set)
	return b
}

// Ranks returns the ranks of nodes.
func (p *Pool) Ranks(nodes Bits) *idset.Set {
	ranks := &idset.Set{}
	for i := range nodes.All() {
		ranks.Add(p.nodes[i].rank)
	}
	return ranks
}

// Among tells whether the job holds or fences any of nodes.
func (a *Alloc) Among(nodes Bits) bool {
	for i := range a.Parts {
		if !a.Parts[i].freed && nodes.Has(int(a.Parts[i].Node)) {
			return true
		}
	}
	for _, i := range a.Fences {
		if nodes.Has(int(i)) {
			return true
		}
	}
	return false
}
