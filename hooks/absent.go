// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

// Absent ranks.
//
// When an instance starts again the hooks resume the windows of its jobs long
// before brokers and agents are there: rc1 loads the agents, and compute
// nodes take their time to join. That is no failure of theirs. So for
// service-timeout after a load a rank without an agent is absent, where it had
// one before or its job's window was resumed, and none was heard of yet: what
// is asked of it waits. An
// agent that comes up asks what is wanted; what is still absent at the end is
// asked once more, and then judged as any other.

// excuse takes absent ranks out of an answer to a wish, and notes them.
func (h *Hooks) excuse(w *window, p phase.Phase, r *wire.SetResponse) {
	if h.graceOver {
		return
	}
	var failed []wire.RankText
	for _, f := range r.Failed {
		if f.Reason != wire.NotLoaded && !wire.IsLost(f.Reason) {
			failed = append(failed, f)
			continue
		}
		absent := f.Ranks
		if !w.resumed || !w.rabbit {
			absent = absent.Intersect(h.managed)
		}
		// One that was heard of and is gone has failed.
		absent = absent.Difference(h.present)
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
	for _, w := range h.sorted() {
		if w.absent.Empty() || w.gen == 0 {
			continue
		}
		ranks := w.absent
		w.absent = nil
		if !w.waiting.Empty() {
			ranks.AddSet(w.waiting)
		}
		h.wish(w, w.phase, ranks)
	}
}
