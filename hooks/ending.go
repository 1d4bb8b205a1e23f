// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import "time"

// The end of a job's tasks.
//
// A job that got an exception while its tasks run is in CLEANUP at once, and
// its services stay down until the tasks have ended, which the exec service
// tells. It may take its time: it sends signals at growing distances, and
// drains what it can't kill after a quarter of an hour or more. But it tells
// nothing of a job that it does not know, where it was reloaded meanwhile, or
// the job manager, and then the job must not wait. So it is asked.

const (
	// startWait is how long the exec service may take to answer for a job that
	// got an exception on its way to a start, until it is asked.
	startWait = 5 * time.Second
	// maxUnsaid is how often it may fail to say what it has, until the tasks are
	// taken to have ended.
	maxUnsaid = 10
)

// starting tells whether the exec service was asked to start the job and did
// not answer yet: tasks may come up in spite of the exception. It answers with
// a release where they do not.
func (w *window) starting() bool {
	return (w.state == Running || w.state == OtherRunning) &&
		!w.facts.started && !w.facts.ended && w.facts.open() == 0
}

// ending tells whether the end of a job's tasks is waited for.
func (h *Hooks) ending(w *window) bool {
	return h.windows[w.id] == w && !w.facts.ended && (w.state == Ending || w.state == OtherRunning)
}

// watchEnd asks the exec service after d whether it has the job, and again
// while it has.
func (h *Hooks) watchEnd(w *window, d time.Duration) {
	h.after(d, func() {
		if !h.ending(w) {
			return
		}
		if h.doubted = append(h.doubted, w); len(h.doubted) == 1 {
			// One question for all that are cancelled together.
			h.after(verifyDelay, h.askExec)
		}
	})
}

func (h *Hooks) askExec() {
	list := h.doubted
	h.doubted = nil
	h.host.Executing(func(ids map[uint64]bool, err error) {
		if h.closed {
			return
		}
		if err != nil {
			h.fault("can't ask the exec service for its jobs: %v", err)
		}
		for _, w := range list {
			if !h.ending(w) {
				continue
			}
			if err != nil {
				w.unsaid++
			}
			if ids[w.id] || err != nil && w.unsaid < maxUnsaid {
				h.watchEnd(w, max(h.cfg.ServiceTimeout, startWait))
				continue
			}
			h.fault("%s: its tasks are taken to have ended: the exec service does not have it", idString(w.id))
			h.event(w, Cleanup, false)
		}
	})
}
