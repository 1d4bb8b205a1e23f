// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/phase"
	"flux-burrow/rv1reader/idset"
)

// maxReading bounds how many eventlogs are read at a time after a load.
const maxReading = 64

// commitWait is how long the job manager may keep events before it commits
// them to the KVS, and more. It gathers them for 10 ms (event.c).
const commitWait = 100 * time.Millisecond

// job is what a jobtap callback says of its job.
type job struct {
	id     uint64
	state  int64
	rabbit bool
	args   string
}

func parseJob(args string) job {
	fields := gjson.GetMany(args, "id", "state", "jobspec.attributes.system.dw")
	return job{
		id:     fields[0].Uint(),
		state:  fields[1].Int(),
		rabbit: fields[2].Exists(),
		args:   args,
	}
}

// ranks gives the ranks of the job's R (RFC 20).
func (j job) ranks() (*idset.Set, error) {
	all := idset.New()
	for _, entry := range gjson.Get(j.args, "R.execution.R_lite").Array() {
		ranks, err := idset.Parse(entry.Get("rank").String())
		if err != nil {
			return nil, fmt.Errorf("execution.R_lite of its R: rank: %w", err)
		}
		all.AddSet(ranks)
	}
	if all.Empty() {
		return nil, errors.New("no ranks in its R")
	}
	return all, nil
}

// nodes gives the ranks of the job's R that have a broker: those of
// fake-resources (flux-config-resource(5)) have none, and no services.
func (h *Hooks) nodes(j job) (*idset.Set, error) {
	ranks, err := j.ranks()
	if n := int(h.host.Size()); err == nil && n > 0 {
		ranks.RemoveRange(n, idset.MaxID)
	}
	return ranks, err
}

// New takes the announcement of a job, job.new. One that is already past its
// start of the run state was there before the plugin.
func (h *Hooks) New(args string) {
	j := parseJob(args)
	if j.state != stateRun && j.state != stateCleanup {
		return
	}
	ranks, err := h.nodes(j)
	if err != nil || ranks.Empty() {
		// Without R it never ran.
		return
	}
	// With enable = false too: an earlier load may have left a hold.
	h.resumeLater(j.id, j.rabbit, ranks)
}

// resumeLater makes the window of a job whose eventlog is to be read.
func (h *Hooks) resumeLater(id uint64, rabbit bool, ranks *idset.Set) {
	w := &window{id: id, rabbit: rabbit, state: Reading, ranks: ranks, failed: idset.New(), seen: map[stamp]bool{}, resumed: true}
	h.windows[id] = w
	h.subscribe(id)
	h.reading++
	h.queue = append(h.queue, id)
	if h.loading == 0 && len(h.queue) <= maxReading {
		h.startReading(id)
	}
}

// subscribe asks for the events of a job. It may come to have a window more than
// once; a second subscription would have each event told twice.
func (h *Hooks) subscribe(id uint64) {
	if h.subscribed[id] {
		return
	}
	h.subscribed[id] = true
	if err := h.host.Subscribe(id); err != nil {
		h.fault("%s: subscribe: %v", idString(id), err)
	}
}

// startReading reads a job's eventlog in a while: an event that was posted
// just now is not in the KVS yet, and is not told of either.
func (h *Hooks) startReading(id uint64) {
	h.after(commitWait, func() {
		if w := h.windows[id]; w != nil {
			h.readLog(w)
			return
		}
		// Over meanwhile.
		h.readNext(id)
		h.read()
	})
}

// readLog reads the eventlog of a job that was there before the plugin.
func (h *Hooks) readLog(w *window) {
	h.host.Eventlog(w.id, func(text string, err error) {
		if h.closed {
			return
		}
		if h.windows[w.id] != w {
			// Over meanwhile.
		} else if err != nil {
			h.fault("%s: can't read its eventlog: %v: its window is not resumed", idString(w.id), err)
			h.drop(w)
		} else {
			h.resume(w, text)
		}
		h.readNext(w.id)
		h.read()
	})
}

func (h *Hooks) readNext(done uint64) {
	for i, id := range h.queue {
		if id == done {
			h.queue = append(h.queue[:i], h.queue[i+1:]...)
			break
		}
	}
	if len(h.queue) >= maxReading {
		h.startReading(h.queue[maxReading-1])
	}
}

func (h *Hooks) resume(w *window, text string) {
	entries, bad := ParseEventlog(text)
	if bad > 0 {
		h.fault("%s: %d lines of its eventlog are no events: skipped", idString(w.id), bad)
	}
	for _, e := range entries {
		w.facts.add(e)
		w.seen[e.stamp()] = true
	}
	for _, e := range w.early {
		if !w.seen[e.stamp()] {
			w.facts.add(e)
		}
	}
	w.early = nil
	w.prolog = w.facts.holds[prologName] > 0
	w.epilog = w.epilog || w.facts.holds[epilogName] > 0
	if w.epilog && w.facts.holds[epilogName] == 0 {
		w.facts.count(epilogName, 1, 0)
	}
	w.facts.stolen = false
	if !h.cfg.Enable && !w.prolog && !w.epilog {
		h.passed[w.id] = passed{w.rabbit, w.ranks}
		h.drop(w)
		return
	}
	state, do := resume(w.facts, w.rabbit, h.cfg.RunIsIdle())
	h.host.Log(logInfo, "%s: resumed: %s", idString(w.id), state)
	h.stats.Resumed++
	if state == Over && !w.rabbit {
		h.passed[w.id] = passed{ranks: w.ranks}
		// It began while the plugin was not there, perhaps.
		h.unkeep(w.ranks)
	}
	h.move(w, state, do, false)
	if state == Ending {
		h.watchEnd(w, h.cfg.ServiceTimeout)
	}
}

// Run takes job.state.run of the current job.
func (h *Hooks) Run(args string) {
	j := parseJob(args)
	if h.windows[j.id] != nil {
		return
	}
	ranks, err := h.nodes(j)
	if err == nil && ranks.Empty() {
		return
	}
	if err != nil {
		h.fault("%s: %v: its services are left as they are", idString(j.id), err)
		return
	}
	if !h.cfg.Enable {
		h.passed[j.id] = passed{j.rabbit, ranks}
		return
	}
	if !j.rabbit && h.cfg.RunIsIdle() && !h.unclean.Overlaps(ranks) {
		h.passed[j.id] = passed{ranks: ranks}
		h.stats.Free++
		return
	}
	w := &window{id: j.id, rabbit: j.rabbit, ranks: ranks, failed: idset.New(), since: h.host.Now()}
	h.windows[j.id] = w
	t := startOther
	if j.rabbit {
		t = startRabbit
		h.stats.Windows++
	} else {
		h.stats.Other++
	}
	h.subscribe(j.id)
	h.move(w, t.next, t.effects, true)
	if j.rabbit {
		h.after(dwsWait, func() { h.missDWS(w) })
	}
}

// dwsWait is how long dws may take to hold a job's prolog, or to have mounted
// its file systems, until somebody is told that it does neither.
const dwsWait = time.Second

// missDWS tells of a rabbit job that dws does nothing for. It waits all the
// same: without its file systems it is not to run.
func (h *Hooks) missDWS(w *window) {
	if w.state == Mounting && !w.facts.held(dwsSetup) && !w.facts.environment {
		h.host.Log(logWarning, "%s: a rabbit job, and no hold %s on it: is the dws-jobtap.so plugin loaded? "+
			"It waits for %s or a cancel", idString(w.id), dwsSetup, environmentEvent)
	}
}

// Cleanup takes job.state.cleanup of the current job.
func (h *Hooks) Cleanup(args string) {
	w := h.windows[gjson.Get(args, "id").Uint()]
	if w == nil {
		return
	}
	if w.state == Reading {
		w.facts.cleanup = true
		if w.rabbit && !w.epilog && h.cfg.Enable {
			// Taken now: by the time the eventlog is read, the job may be over.
			if err := h.host.HoldEpilog(w.id, epilogName, true); err == nil {
				w.epilog = true
			}
		}
		return
	}
	h.cleanup(w)
}

// cleanup moves a job in CLEANUP on.
func (h *Hooks) cleanup(w *window) {
	switch {
	case w.facts.running():
		h.event(w, Killed, true)
		h.watchEnd(w, h.cfg.ServiceTimeout)
	case w.starting():
		h.event(w, Killed, true)
		h.watchEnd(w, startWait)
	default:
		h.event(w, Cleanup, true)
	}
}

// JobEvent takes job.event.* of a job with a window.
func (h *Hooks) JobEvent(args string) {
	w := h.windows[gjson.Get(args, "id").Uint()]
	if w == nil {
		return
	}
	var e Entry
	if err := json.Unmarshal([]byte(gjson.Get(args, "entry").Raw), &e); err != nil {
		return
	}
	if w.state == Reading {
		w.early = append(w.early, e)
		return
	}
	if w.seen != nil {
		if w.seen[e.stamp()] {
			return
		}
	}
	before := w.facts
	before.holds = maps.Clone(before.holds)
	dws := before.holds[dwsEpilog]
	w.facts.add(e)
	if w.facts.stolen {
		w.facts.stolen = false
		h.retake(w)
	}
	if w.prolog && e.Name == "prolog-finish" && before.held(prologName) && !w.facts.held(prologName) {
		// By the heir of an earlier load, unless it is retake's own.
		w.prolog = w.retaking
		w.retaking = false
	}
	switch {
	case w.facts.environment && !before.environment:
		h.event(w, Environment, true)
	case w.facts.ended && !before.ended && w.facts.cleanup && w.state != Unmounting:
		// A finish that itself brings the job to CLEANUP is told by Cleanup.
		if e.Name != "finish" || before.cleanup {
			h.cleanup(w)
		}
	case dws > 0 && w.facts.holds[dwsEpilog] == 0:
		h.dwsOver(w)
	}
}

func (h *Hooks) dwsOver(w *window) {
	if w.facts.dwsStatus != 0 {
		h.event(w, GivenUp, true)
	} else {
		h.event(w, Unmounted, true)
	}
}

// Inactive takes job.inactive-add: the job is over. A window that still holds
// something then missed an event; it ends.
func (h *Hooks) Inactive(args string) {
	id := gjson.Get(args, "id").Uint()
	delete(h.passed, id)
	delete(h.subscribed, id)
	w := h.windows[id]
	if w == nil || w.state == OtherIdling {
		return
	}
	w.prolog, w.epilog = false, false
	// At its end in good order it is here by its own letting go of the epilog,
	// with nothing left to ask for.
	if w.state != Reading && w.state != Over {
		h.wish(w, phase.Idle, w.ranks)
	}
	h.drop(w)
}

// retake takes a hold anew that another plugin ended by finishing one of its
// own twice: the job manager counts holds and does not compare names. Where
// ours was the last, its end is posted first, so that the eventlog has an end
// for each start; the count is 0 and stays so.
func (h *Hooks) retake(w *window) {
	last := w.facts.open() == 1
	if w.prolog {
		if last {
			w.retaking = h.host.FreeProlog(w.id, prologName, 0) == nil
		}
		w.prolog = h.held(w, prologName, h.host.HoldProlog(w.id, prologName, true))
	}
	if w.epilog {
		if last {
			_ = h.host.FreeEpilog(w.id, epilogName, 0)
		}
		w.epilog = h.held(w, epilogName, h.host.HoldEpilog(w.id, epilogName, true))
	}
	if w.prolog || w.epilog {
		h.fault("%s: a hold was finished twice by another plugin: taken anew", idString(w.id))
	}
}
