// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"time"

	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// Absent ranks.
//
// When an instance starts again the hooks resume the windows of its jobs long
// before brokers and agents are there: rc1 loads the agents, and compute
// nodes take their time to join. That is no failure of theirs. So for
// service-timeout after a load a rank without an agent is absent, where it had
// one before or its job's window was resumed, and none was heard of yet: what
// is asked of it waits. An agent that comes up asks what is wanted; what is
// still absent at the end is asked once more, and then judged as any other.
//
// An agent that is reloaded is gone for a moment too. So a rank that had an agent
// and has none gets reloadGrace, once.

// excuse takes absent ranks out of an answer to a wish, and notes them.
func (h *Hooks) excuse(w *window, p phase.Phase, r *wire.SetResponse) {
	var failed []wire.RankText
	for _, f := range r.Failed {
		if f.Reason != wire.NotLoaded && !wire.IsLost(f.Reason) {
			failed = append(failed, f)
			continue
		}
		absent := idset.New()
		if !h.graceOver {
			absent.AddSet(f.Ranks)
			if !w.resumed || !w.rabbit {
				absent = absent.Intersect(h.managed)
			}
			// One that was heard of and is gone has failed.
			absent = absent.Difference(h.present)
		}
		if f.Reason == wire.NotLoaded {
			h.leave(f.Ranks.Intersect(h.managed).Difference(h.gone))
			for ranks := range h.returning {
				absent.AddSet(f.Ranks.Intersect(ranks))
			}
		}
		if left := f.Ranks.Difference(absent); !left.Empty() {
			failed = append(failed, wire.RankText{Ranks: left, Reason: f.Reason})
		}
		if absent.Empty() {
			continue
		}
		w.absent = w.absent.Union(absent)
		if p == phase.Run {
			// The job's start waits for them as for another job.
			r.Waiting = r.Waiting.Union(absent)
		}
	}
	r.Failed = failed
}

// reloadGrace is how long an agent may be gone while it is reloaded. It takes a
// part of a second, on a busy node more.
const reloadGrace = 2 * time.Second

// leave notes that ranks have no agent any more, perhaps for a moment only.
func (h *Hooks) leave(ranks *idset.Set) {
	if ranks.Empty() {
		return
	}
	h.gone.AddSet(ranks)
	for earlier := range h.returning {
		earlier.RemoveSet(ranks) // it was there in between
	}
	h.returning[ranks] = true
	h.after(reloadGrace, func() {
		delete(h.returning, ranks)
		h.askAbsent(ranks)
	})
}

// came notes that a rank's agent is there.
func (h *Hooks) came(rank uint32) {
	for _, w := range h.windows {
		if w.absent != nil {
			w.absent.Remove(int(rank))
		}
	}
}

// endGrace asks the ranks that are still absent once more.
func (h *Hooks) endGrace() {
	h.graceOver = true
	h.askAbsent(idset.NewRange(0, idset.MaxID))
}

// askAbsent asks those of ranks that windows have as absent.
func (h *Hooks) askAbsent(among *idset.Set) {
	for _, w := range h.sorted() {
		ranks := w.absent.Intersect(among)
		if ranks.Empty() || w.gen == 0 {
			continue
		}
		w.absent.RemoveSet(ranks)
		if !w.waiting.Empty() {
			ranks.AddSet(w.waiting)
		}
		h.wish(w, w.phase, ranks)
	}
}
