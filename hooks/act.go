// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"fmt"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// retry of a wish that waits for another job, in case its end is missed.
const (
	waitFirst = time.Second
	waitMost  = 10 * time.Second
)

// event moves a window on. current: the callback that runs is of this job.
func (h *Hooks) event(w *window, e Event, current bool) {
	next, do, ok := Next(w.state, e)
	if !ok {
		h.stats.Refused++
		h.host.Log(logDebug, "%s: %s: %s is of no meaning", idString(w.id), w.state, e)
		return
	}
	h.move(w, next, do, current)
}

// move enters a state and does what goes with it. The state is set first:
// an effect may bring the next event before it returns.
func (h *Hooks) move(w *window, next State, do []Effect, current bool) {
	if w.state != next {
		h.host.Log(logDebug, "%s: %s: %s", idString(w.id), w.state, next)
	}
	w.state = next
	for _, e := range do {
		h.act(w, e, current)
		if h.windows[w.id] != w {
			return // the end of a hold was the end of the job
		}
	}
	if next == Over && w.state == Over {
		h.drop(w)
	}
}

func (h *Hooks) act(w *window, e Effect, current bool) {
	switch e {
	case HoldProlog:
		if !w.prolog {
			w.prolog = h.held(w, prologName, h.host.HoldProlog(w.id, prologName, current))
		}
	case FreeProlog:
		h.freeProlog(w, 0)
	case FailProlog:
		h.freeProlog(w, 1)
	case HoldEpilog:
		if !w.epilog {
			w.epilog = h.held(w, epilogName, h.host.HoldEpilog(w.id, epilogName, current))
		}
	case FreeEpilog:
		if w.epilog {
			w.epilog = false
			h.freed(w, epilogName, h.host.FreeEpilog(w.id, epilogName, 0))
		}
	case WishMount:
		h.wish(w, phase.Mount, w.ranks)
		h.unkeep(w.ranks)
	case WishRun:
		h.unkeep(w.ranks)
		h.wish(w, phase.Run, w.ranks)
	case WishUnmount:
		h.wish(w, phase.Unmount, w.ranks)
	case WishIdle:
		h.wish(w, phase.Idle, w.ranks)
	case StartTimer:
		if d := h.cfg.EnvironmentTimeout; d > 0 {
			w.cancelTimer = h.after(d, func() { h.event(w, Late, false) })
		}
	case StopTimer:
		w.stopTimer()
	case RaiseTimeout:
		h.stats.Timeouts++
		h.raise(w, timeoutException, fmt.Sprintf("no %s after %v", environmentEvent, h.cfg.EnvironmentTimeout))
	case RaiseFailed:
		h.raise(w, failedException, w.why)
	case Settle:
		h.after(0, func() {
			if w.state == Unmounting && w.facts.holds[dwsEpilog] == 0 {
				if w.facts.dwsSeen {
					h.dwsOver(w)
				} else {
					h.event(w, Unmounted, false)
				}
			}
		})
	case Keep:
		h.keep(w)
		h.wake()
	}
}

func (w *window) stopTimer() {
	if w.cancelTimer != nil {
		w.cancelTimer()
		w.cancelTimer = nil
	}
}

func (h *Hooks) held(w *window, name string, err error) bool {
	if err != nil {
		h.fault("%s: can't hold %s: %v", idString(w.id), name, err)
	}
	return err == nil
}

func (h *Hooks) freeProlog(w *window, status int) {
	if !w.prolog {
		return
	}
	w.prolog = false
	if !w.since.IsZero() {
		h.stats.HoldTime += h.host.Now().Sub(w.since).Seconds()
	}
	h.freed(w, prologName, h.host.FreeProlog(w.id, prologName, status))
}

func (h *Hooks) freed(w *window, name string, err error) {
	if err != nil {
		h.fault("%s: can't let go of %s: %v", idString(w.id), name, err)
	}
}

// raise ends the job. Where that fails it must not wait for ever.
func (h *Hooks) raise(w *window, kind, note string) {
	h.stats.Raised++
	if err := h.host.Raise(w.id, kind, 0, note); err != nil {
		h.fault("%s: can't raise %s (%s): %v", idString(w.id), kind, note, err)
		h.freeProlog(w, 1)
	}
}

func (h *Hooks) fault(format string, args ...any) {
	h.stats.LastFault = fmt.Sprintf(format, args...)
	h.host.Log(logErr, "%s", h.stats.LastFault)
}

// drop forgets a window.
func (h *Hooks) drop(w *window) {
	w.stopTimer()
	if w.cancelRetry != nil {
		w.cancelRetry()
		w.cancelRetry = nil
	}
	if h.windows[w.id] == w {
		delete(h.windows, w.id)
	}
	w.state = Over
}

// wish asks the ranks of a job for a phase. Only the answer to the last wish
// of a window moves it.
func (h *Hooks) wish(w *window, p phase.Phase, ranks *idset.Set) { h.wishFor(w, p, ranks, false) }

// wishFor is wish; again: others are not to repeat theirs for it.
func (h *Hooks) wishFor(w *window, p phase.Phase, ranks *idset.Set, again bool) {
	if h.loading > 0 {
		w.later = func() { h.wish(w, p, ranks) }
		return
	}
	h.stats.Wishes++
	gen := h.nextGen()
	w.phase, w.gen = p, gen
	w.waiting, w.absent = nil, nil
	if p == phase.Mount || p == phase.Unmount {
		h.soil(ranks)
	} else if !h.cfg.RunIsIdle() {
		h.unclean.AddSet(ranks)
	}
	h.ask(ranks, wire.Need{ID: w.id, Phase: p, Gen: gen}, func(r wire.SetResponse, soiled *idset.Set) {
		if w.gen == gen {
			h.answered(w, p, ranks, r, soiled)
			// Only what lets go of a need is worth a repeat of others' wishes. A
			// repeat that lets others repeat would never end.
			if !again && (p == phase.Idle || p == phase.Run) {
				h.wake()
			}
		}
	})
}

func (h *Hooks) answered(w *window, p phase.Phase, ranks *idset.Set, r wire.SetResponse, soiled *idset.Set) {
	h.learn(ranks, p, r, soiled)
	if p == phase.Idle {
		h.ended(w.id, ranks, w.gen, r)
	}
	if p == phase.Run {
		// Some answered long before others: where another job has had services
		// up since, they may be so again.
		if up := soiled.Intersect(ranks); !up.Empty() {
			r.Waiting = r.Waiting.Union(up)
		}
		if h.settled != nil {
			r.Waiting = r.Waiting.Union(ranks)
		}
	}
	h.excuse(w, p, &r)
	if !w.rabbit {
		r.Failed = withAgent(r.Failed, h.managed)
	}
	tooMany := h.judge(w, p, r)
	switch {
	case tooMany:
		h.event(w, Failed, false)
	case p == phase.Run && !r.Waiting.Empty() && (w.state == Stopping || w.state == OtherStopping):
		w.waiting = r.Waiting
		w.retryIn = min(max(2*w.retryIn, waitFirst), waitMost)
		w.cancelRetry = h.after(w.retryIn, func() { w.cancelRetry = nil; h.wishAgain(w) })
	default:
		h.event(w, Ready, false)
	}
}

// withAgent leaves out ranks that never had an agent: a job without a rabbit
// does not depend on one.
func withAgent(failed []wire.RankText, managed *idset.Set) []wire.RankText {
	var kept []wire.RankText
	for _, f := range failed {
		if f.Reason == wire.NotLoaded {
			f.Ranks = f.Ranks.Intersect(managed)
		}
		if !f.Ranks.Empty() {
			kept = append(kept, f)
		}
	}
	return kept
}

// wake repeats the wishes that wait for another job on their nodes.
func (h *Hooks) wake() {
	for _, w := range h.sorted() {
		if !w.waiting.Empty() && !h.needed(w) {
			h.wishAgain(w)
		}
	}
}

// needed tells whether another window needs services up on ranks that w waits
// for.
func (h *Hooks) needed(w *window) bool {
	for _, o := range h.windows {
		if o != w && (o.phase == phase.Mount || o.phase == phase.Unmount) && o.gen != 0 && o.ranks.Overlaps(w.waiting) {
			return true
		}
	}
	return false
}

func (h *Hooks) wishAgain(w *window) {
	if w.waiting.Empty() || (w.state != Stopping && w.state != OtherStopping) {
		return
	}
	if w.cancelRetry != nil {
		w.cancelRetry()
		w.cancelRetry = nil
	}
	// No other window needs them, or one has for long: what is left of jobs
	// that are over is to go.
	// All ranks are asked: where the services were down, another job may have
	// had them up meanwhile, and down was to be everywhere at a time.
	ranks := w.ranks.Difference(w.failed)
	h.unkeep(ranks)
	h.tellAgain(ranks)
	h.wishFor(w, phase.Run, ranks, true)
}

// judge applies the policy to what failed, and tells whether the job is to
// get an exception.
func (h *Hooks) judge(w *window, p phase.Phase, r wire.SetResponse) bool {
	if len(r.Failed) == 0 {
		return false
	}
	report := h.report(w, p, r.Failed)
	h.stats.Failures++
	for _, f := range r.Failed {
		w.failed.AddSet(f.Ranks)
		if h.cfg.OnFailure == config.Drain {
			h.drain(f)
		}
	}
	h.fault("%s: %s", idString(w.id), report)
	w.why = report
	if h.cfg.OnFailure == config.Ignore || p == phase.Unmount || p == phase.Idle {
		return false
	}
	return w.failed.Count() > h.cfg.Tolerate
}

func (h *Hooks) drain(f wire.RankText) {
	h.host.Drain(f.Ranks, "burrow: "+f.Reason)
}
