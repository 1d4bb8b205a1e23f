// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"cmp"
	"maps"
	"slices"

	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// ask sends a wish to ranks. The answer tells of the time before it was sent
// too: soiled are ranks that became unclean meanwhile, of which it says
// nothing. done is not called after Close.
func (h *Hooks) ask(ranks *idset.Set, need wire.Need, done func(r wire.SetResponse, soiled *idset.Set)) {
	soiled := idset.New()
	h.inFlight[soiled] = nil
	if need.Phase == phase.Mount || need.Phase == phase.Unmount {
		h.inFlight[soiled] = ranks
	}
	h.host.Set(wire.SetRequest{Ranks: ranks, Need: need}, func(r wire.SetResponse) {
		delete(h.inFlight, soiled)
		if !h.closed {
			done(r, soiled)
			h.checkRest()
		}
	})
}

// soil notes that the services of ranks may be other than run wants them.
func (h *Hooks) soil(ranks *idset.Set) {
	h.unclean.AddSet(ranks)
	for s := range h.inFlight {
		s.AddSet(ranks)
	}
}

// ended tells ranks that a job needs nothing more. Those that may not have
// heard of it are told again when another job waits for them: their agents
// hold the need otherwise for ever. An agent that is gone holds none. It tells
// whether all have heard.
func (h *Hooks) ended(id uint64, ranks *idset.Set, gen uint64, r wire.SetResponse) bool {
	o := h.owed[id]
	if o == nil {
		o = &keep{ranks: idset.New()}
	}
	o.gen = gen
	o.ranks.RemoveSet(ranks)
	for _, f := range r.Failed {
		if f.Reason != wire.NotLoaded && !wire.IsLost(f.Reason) {
			o.ranks.AddSet(f.Ranks)
		}
	}
	if o.ranks.Empty() {
		delete(h.owed, id)
		return true
	}
	h.owed[id] = o
	return false
}

// tellAgain repeats the ends of jobs that ranks may not have heard of.
func (h *Hooks) tellAgain(ranks *idset.Set) {
	for _, id := range slices.Sorted(maps.Keys(h.owed)) {
		o := h.owed[id]
		if part := o.ranks.Intersect(ranks); !part.Empty() {
			h.end(id, part, o.gen)
		}
	}
}

// end tells ranks that a job which has no window needs nothing more.
func (h *Hooks) end(id uint64, ranks *idset.Set, gen uint64) {
	h.ask(ranks, wire.Need{ID: id, Phase: phase.Idle, Gen: gen}, func(r wire.SetResponse, soiled *idset.Set) {
		h.learn(ranks, phase.Idle, r, soiled)
		if h.ended(id, ranks, gen, r) {
			h.wake()
		}
	})
}

// sorted gives the windows by job.
func (h *Hooks) sorted() []*window {
	list := slices.Collect(maps.Values(h.windows))
	slices.SortFunc(list, func(a, b *window) int { return cmp.Compare(a.id, b.id) })
	return list
}
