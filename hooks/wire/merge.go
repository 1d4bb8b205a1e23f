// SPDX-License-Identifier: LGPL-3.0-or-later

package wire

import (
	"reflect"

	"flux-burrow/rv1reader/idset"
)

// AddText adds ranks to the entry with the same text.
func AddText(list []RankText, ranks *idset.Set, text string) []RankText {
	for i := range list {
		if list[i].Reason == text {
			list[i].Ranks.AddSet(ranks)
			return list
		}
	}
	return append(list, RankText{Ranks: ranks.Clone(), Reason: text})
}

// Merge adds what another part of the tree answered.
func (r *SetResponse) Merge(o SetResponse) {
	for _, f := range o.Failed {
		r.Failed = AddText(r.Failed, f.Ranks, f.Reason)
	}
	for _, s := range o.Skipped {
		r.Skipped = AddText(r.Skipped, s.Ranks, s.Reason)
	}
	if !o.Waiting.Empty() {
		if r.Waiting == nil {
			r.Waiting = idset.New()
		}
		r.Waiting.AddSet(o.Waiting)
	}
}

// FailedRanks is the union of the failed entries' ranks.
func (r *SetResponse) FailedRanks() *idset.Set {
	all := idset.New()
	for _, f := range r.Failed {
		all.AddSet(f.Ranks)
	}
	return all
}

// Merge adds what another part of the tree answered; nodes that are alike
// share an entry.
func (r *StatusResponse) Merge(o StatusResponse) {
	for _, f := range o.Failed {
		r.Failed = AddText(r.Failed, f.Ranks, f.Reason)
	}
next:
	for _, n := range o.Nodes {
		for i := range r.Nodes {
			have := &r.Nodes[i]
			if reflect.DeepEqual(have.Services, n.Services) && reflect.DeepEqual(have.Needs, n.Needs) {
				have.Ranks.AddSet(n.Ranks)
				continue next
			}
		}
		r.Nodes = append(r.Nodes, n)
	}
}
