// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"encoding/json"
	"maps"
	"slices"

	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// keep is a job whose unmount was given up: its services stay up on its ranks
// until the next window there, or until they are released. It is in the KVS,
// since the job is not active any more when the job manager restarts.
type keep struct {
	ranks *idset.Set
	gen   uint64
}

func (h *Hooks) keep(w *window) {
	h.stats.GivenUp++
	h.kept[w.id] = &keep{ranks: w.ranks.Clone(), gen: w.gen}
	// What needs the services from now on is what is kept, not the window.
	w.phase = phase.Idle
	h.storeKept()
	h.host.Log(logWarning, "%s: its unmount was given up (%s, status %d): services stay up on ranks %s until "+
		"the next job there or flux burrow release %s", idString(w.id), dwsEpilog, w.facts.dwsStatus, w.ranks, w.ranks)
}

// unkeep ends what was kept on ranks.
func (h *Hooks) unkeep(ranks *idset.Set) []wire.JobRanks {
	released := []wire.JobRanks{}
	for _, id := range slices.Sorted(maps.Keys(h.kept)) {
		k := h.kept[id]
		part := k.ranks.Intersect(ranks)
		if part.Empty() {
			continue
		}
		k.ranks.RemoveSet(part)
		if k.ranks.Empty() {
			delete(h.kept, id)
		}
		released = append(released, wire.JobRanks{ID: id, Ranks: part})
		if w := h.windows[id]; w != nil && w.gen != 0 && w.phase != phase.Idle {
			// A crash took back that its unmount was given up: its need is that of
			// its window again.
			continue
		}
		h.end(id, part, h.nextGen())
	}
	if len(released) > 0 {
		h.storeKept()
	}
	return released
}

// Release drops what given-up unmounts left up on ranks. reply may be called
// later.
func (h *Hooks) Release(ranks *idset.Set, reply func(wire.ReleaseResponse)) {
	h.whenRead(func() { reply(wire.ReleaseResponse{Released: h.unkeep(ranks)}) })
}

type storedKeep struct {
	ID    uint64     `json:"id"`
	Ranks *idset.Set `json:"ranks"`
	Gen   uint64     `json:"gen"`
}

func (h *Hooks) storeKept() {
	list := []storedKeep{}
	for _, id := range slices.Sorted(maps.Keys(h.kept)) {
		list = append(list, storedKeep{id, h.kept[id].ranks, h.kept[id].gen})
	}
	h.host.Store(keptKey, wire.Encode(list))
}

func (h *Hooks) loadKept(done func()) {
	h.host.Load(keptKey, func(value string, err error) {
		if h.closed {
			return
		}
		var list []storedKeep
		if err == nil && value != "" {
			err = json.Unmarshal([]byte(value), &list)
		}
		if err != nil {
			h.fault("%s: %v: services kept up for a given-up unmount are let go", keptKey, err)
		}
		for _, s := range list {
			for _, w := range h.windows {
				if w.gen != 0 {
					// The next window there has begun meanwhile.
					s.Ranks = s.Ranks.Difference(w.ranks)
				}
			}
			for _, p := range h.passed {
				s.Ranks = s.Ranks.Difference(p.ranks)
			}
			if !s.Ranks.Empty() && h.kept[s.ID] == nil {
				// Above the floor, so that the nodes do not drop it.
				h.kept[s.ID] = &keep{ranks: s.Ranks, gen: h.nextGen()}
				h.ask(s.Ranks, wire.Need{ID: s.ID, Phase: phase.Unmount, Gen: h.kept[s.ID].gen},
					func(wire.SetResponse, *idset.Set) {})
			}
		}
		done()
	})
}
