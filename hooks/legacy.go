// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// Inheritor is a Host that can end holds when the plugin is gone.
type Inheritor interface {
	// Inherit has what is held of a job let go after the plugin was removed, and
	// tells whether that will be.
	Inherit(Legacy) bool
}

// Legacy is a job whose holds are left to the host.
type Legacy struct {
	ID     uint64
	Rabbit bool
	Ranks  *idset.Set
	// Gen is that of the wish for run that its prolog waits for, or may be given
	// to one. 0: none is known, see Bound.
	Gen uint64
	// Unread: what is held is not known, its eventlog tells. It may be read after
	// CommitWait.
	Unread bool
	// Managed are the ranks that had an agent at some time. A job without a rabbit
	// does not depend on others.
	Managed *idset.Set
	// Tolerate is how many nodes may fail before the job gets an exception.
	Tolerate int
}

// CommitWait is how long the job manager may keep events before they can be
// read.
const CommitWait = commitWait

// ReloadGrace is how long an agent may be gone while it is reloaded.
const ReloadGrace = reloadGrace

// Failed are the failures that count for the job.
func (l Legacy) Failed(failed []wire.RankText) []wire.RankText {
	if l.Rabbit {
		return failed
	}
	return withAgent(failed, l.Managed)
}

// Due is what is to become of a legacy by its job's eventlog.
type Due struct {
	// Prolog and Epilog: what is to be finished, with which status.
	Prolog, Epilog bool
	Status         int
	// Wait: the prolog only when services are as run wants them.
	Wait bool
	// Later: its file systems are being mounted, so it is to be looked at again.
	Later bool
}

// Due reads an eventlog.
func (l Legacy) Due(eventlog string) Due {
	f := readFacts(eventlog)
	d := Due{Prolog: f.held(prologName), Epilog: f.held(epilogName)}
	switch {
	case f.cleanup:
		d.Status = 1
	case d.Prolog && l.Rabbit && f.mounts():
		d.Later = true
	default:
		d.Wait = d.Prolog
	}
	return d
}

// NeedsServices tells whether a job's file systems are being mounted or
// unmounted, by its eventlog. Where the plugin is gone nobody else tells nodes
// that it needs them no more.
func NeedsServices(eventlog string) bool {
	f := readFacts(eventlog)
	return f.mounts() || f.held(dwsEpilog)
}

// mounts tells whether dws mounts a job's file systems.
func (f *facts) mounts() bool { return f.held(dwsSetup) && !f.environment && !f.cleanup }

func readFacts(eventlog string) facts {
	var f facts
	entries, _ := ParseEventlog(eventlog)
	for _, e := range entries {
		f.add(e)
	}
	return f
}

// The holds of burrow, as others see them.
const (
	PrologName = prologName
	EpilogName = epilogName
)

// Bound is the KVS key of a number that is above all generations that were
// given, and what is to be added for the next one that is stored.
const (
	Bound     = boundKey
	BoundStep = boundStep
)

// inherit leaves the holds of a prolog to the host, since a job must not start
// beside its services because the plugin was removed, and holds of an earlier
// load that are not read yet.
func (h *Hooks) inherit(w *window) bool {
	host, ok := h.host.(Inheritor)
	waits := w.prolog && w.gen != 0 && w.phase == phase.Run && (w.state == Stopping || w.state == OtherStopping)
	look := w.state == Reading || w.prolog && w.state == Mounting
	if !ok || !waits && !look {
		return false
	}
	l := Legacy{ID: w.id, Rabbit: w.rabbit, Ranks: w.ranks, Gen: w.gen, Unread: look,
		Managed: h.managed.Clone(), Tolerate: h.cfg.Tolerate}
	if h.cfg.OnFailure == config.Ignore {
		l.Tolerate = w.ranks.Count()
	}
	if h.loading == 0 && l.Unread {
		l.Gen = h.nextGen()
	}
	return host.Inherit(l)
}
