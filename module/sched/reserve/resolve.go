// SPDX-License-Identifier: LGPL-3.0-or-later

package reserve

import (
	"flux-burrow/module/sched/constraint"
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// Nodes are the nodes of the instance.
type Nodes interface {
	// All gives the ranks that there are, whether they are up or not.
	All() *idset.Set
	// Hosts gives the ranks of hosts, and the hosts that are not there.
	Hosts(hosts *hostlist.List) (ranks *idset.Set, missing *hostlist.List)
	// Match gives the ranks that satisfy a constraint.
	Match(e *constraint.Expr) *idset.Set
}

// resolve works out which nodes it means. What is not there is left out of
// Ranks: a node that is gone keeps no reservation from being kept.
func (r *Reservation) resolve(nodes Nodes) {
	r.Missing = ""
	switch {
	case r.expr != nil:
		r.Ranks = nodes.Match(r.expr)
	case r.hosts != nil:
		ranks, missing := nodes.Hosts(r.hosts)
		r.Ranks, r.Missing = ranks, missing.Uniq().String()
	default:
		all := nodes.All()
		r.Ranks, r.Missing = r.ranks.Intersect(all), r.ranks.Difference(all).String()
	}
}

// Resolve works out anew which nodes the reservations mean, and returns those
// for which that changed.
func (b *Book) Resolve(nodes Nodes) (changed []*Reservation) {
	for i, r := range b.list {
		now := *r
		now.resolve(nodes)
		if r.Ranks == nil || !now.Ranks.Equal(r.Ranks) || now.Missing != r.Missing {
			b.list[i] = &now
			changed = append(changed, &now)
		}
	}
	return changed
}
