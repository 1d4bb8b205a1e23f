// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"iter"

	"flux-burrow/module/sched/constraint"
	"flux-burrow/rv1reader/idset"
)

// Match returns the nodes that satisfy a constraint; nil, which stands for all
// nodes, if there is none. The result holds until Generation changes.
func (p *Pool) Match(e *constraint.Expr) Bits {
	if e == nil {
		return nil
	}
	return constraint.Eval[Bits](e, matcher{p})
}

// matcher lends the pool's nodes to package constraint.
type matcher struct{ p *Pool }

func (m matcher) New(all bool) Bits {
	if all {
		return FullBits(m.p.Len())
	}
	return NewBits(m.p.Len())
}

func (m matcher) Property(s Bits, name string) {
	if set := m.p.props[name]; set != nil {
		s.Or(set)
	}
}

func (m matcher) Hosts(s Bits, hosts iter.Seq2[int, string]) {
	index := m.p.hosts()
	for _, host := range hosts {
		for _, i := range index[host] {
			s.Set(int(i))
		}
	}
}

func (m matcher) Ranks(s Bits, ranks *idset.Set) { m.p.each(ranks, s.Set) }
func (m matcher) And(s, o Bits)                  { s.And(o) }
func (m matcher) Or(s, o Bits)                   { s.Or(o) }

func (m matcher) Not(s Bits) {
	all := FullBits(m.p.Len())
	for i := range s {
		s[i] = ^s[i] & all[i]
	}
}

// hosts returns the nodes by host name; several brokers can be on one host.
func (p *Pool) hosts() map[string][]int32 {
	if p.byHost == nil {
		p.byHost = make(map[string][]int32, p.Len())
		list := p.inv.Nodelist()
		for i, host := range list.All() {
			p.byHost[host] = append(p.byHost[host], int32(i))
		}
	}
	return p.byHost
}

// Property returns the nodes that have a property; nil for none. It is the
// pool's own.
func (p *Pool) Property(name string) Bits { return p.props[name] }
