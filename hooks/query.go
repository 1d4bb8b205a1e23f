// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"cmp"
	"slices"

	"flux-burrow/hooks/wire"
)

// windowQuery is a window as flux jobtap query shows it.
type windowQuery struct {
	ID      uint64 `json:"id"`
	State   string `json:"state"`
	Ranks   string `json:"ranks"`
	Phase   string `json:"phase"`
	Waiting string `json:"waiting,omitempty"`
	Failed  string `json:"failed,omitempty"`
	Why     string `json:"why,omitempty"`
}

type query struct {
	Enabled bool          `json:"enabled"`
	Windows []windowQuery `json:"windows"`
	Kept    []storedKeep  `json:"kept"`
	Unclean string        `json:"unclean"`
	Stats   Stats         `json:"stats"`
}

// Query describes the windows as JSON.
func (h *Hooks) Query() string {
	q := query{
		Enabled: h.cfg.Enable,
		Windows: []windowQuery{},
		Kept:    []storedKeep{},
		Unclean: h.unclean.String(),
		Stats:   h.stats,
	}
	for _, w := range h.windows {
		q.Windows = append(q.Windows, windowQuery{
			ID:      w.id,
			State:   w.state.String(),
			Ranks:   w.ranks.String(),
			Phase:   w.phase.String(),
			Waiting: w.waiting.String(),
			Failed:  w.failed.String(),
			Why:     w.why,
		})
	}
	slices.SortFunc(q.Windows, func(a, b windowQuery) int { return cmp.Compare(a.ID, b.ID) })
	for id, k := range h.kept {
		q.Kept = append(q.Kept, storedKeep{id, k.ranks, k.gen})
	}
	return wire.Encode(q)
}
