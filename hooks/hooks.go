// SPDX-License-Identifier: LGPL-3.0-or-later

// Package hooks controls the windows of rabbit jobs: when the services on a
// job's nodes are up, and how long the job's prolog and epilog wait for them.
//
// The life of a window is the table in window.go; its effects are carried out
// here. A window begins at job.state.run, when the plugin holds the prolog,
// and ends when the services are idle and the epilog is let go. Jobs without
// a rabbit, on nodes whose services are as run wants them, have none.
//
// After a restart of the job manager, or a reload of the plugin, each active
// job's window is resumed from its eventlog, which is all the state there is.
// Nodes follow: a wish carries a generation that grows with each wish of the
// hooks, and what an older one asked for is void.
package hooks

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// verifyDelay gathers nodes whose agents come up at about the same time.
const verifyDelay = 100 * time.Millisecond

// window is the window of one job.
type window struct {
	id     uint64
	rabbit bool
	state  State
	ranks  *idset.Set
	facts  facts
	seen   map[stamp]bool
	early  []Entry

	prolog, epilog bool
	// retaking: the end of the prolog's hold that comes next is by retake.
	retaking bool
	// phase and gen are of the last wish.
	phase phase.Phase
	gen   uint64
	// waiting are ranks where another job still needs a service up, absent those
	// whose agent is not there yet after a load. There are none while a wish is
	// on its way.
	waiting *idset.Set
	absent  *idset.Set
	// later is a wish that waits for the end of loading.
	later   func()
	resumed bool
	// unsaid counts questions to the exec service without an answer.
	unsaid  int
	retryIn time.Duration
	// failed are the ranks that failed, in all phases.
	failed *idset.Set
	why    string

	since       time.Time
	cancelTimer func()
	cancelRetry func()
}

// stamp tells entries apart: what was read may come as a callback too.
type stamp struct {
	at          float64
	name        string
	description string
}

// Hooks are the windows of all jobs.
type Hooks struct {
	host Host
	cfg  *config.Config

	windows map[uint64]*window
	// subscribed are active jobs whose events are told.
	subscribed map[uint64]bool
	// passed are active jobs without a window, see passed.go.
	passed map[uint64]passed
	// kept are jobs whose unmount was given up.
	kept map[uint64]*keep

	lastGen uint64
	bound   uint64
	// floor is the generation of this load.
	floor uint64
	// unclean are ranks whose services may be other than run wants them.
	unclean *idset.Set
	// managed are ranks that had an agent at some time.
	managed *idset.Set
	// present are those of them that were heard of in this load.
	present *idset.Set
	// gone are those of them that have no agent any more, returning those that
	// may only be reloading theirs, by when they went.
	gone      *idset.Set
	returning map[*idset.Set]bool
	// inFlight has, for each wish on its way, the ranks that became unclean
	// since it was sent, and as its value the ranks that it wants something up on.
	inFlight map[*idset.Set]*idset.Set
	// unchecked are ranks that are to be checked, see checkRest.
	unchecked *idset.Set
	// owed are ends of jobs that ranks may not have heard of.
	owed map[uint64]*keep
	// settled cancels the wait for agents to have a new configuration, nil: there
	// is none.
	settled func()
	// graceOver: the time in which absent ranks are waited for is over.
	graceOver bool

	// reading counts what is being read before nodes can be told anything.
	reading int
	// loading counts what is being read that wishes depend on.
	loading int
	// doubted are windows in CLEANUP of which the exec service is to be asked
	// whether their tasks may still run.
	doubted []*window
	// storing: managed is about to be stored.
	storing bool
	queue   []uint64
	asked   []func()
	verify  *idset.Set
	timers  map[*func()]bool
	stats   Stats
	closed  bool
}

// Stats counts what the hooks did since they were loaded.
type Stats struct {
	Windows   uint64  `json:"windows"`
	Resumed   uint64  `json:"resumed"`
	Other     uint64  `json:"other"`
	Free      uint64  `json:"free"`
	Wishes    uint64  `json:"wishes"`
	Failures  uint64  `json:"failures"`
	Timeouts  uint64  `json:"timeouts"`
	GivenUp   uint64  `json:"given-up"`
	Raised    uint64  `json:"raised"`
	Refused   uint64  `json:"refused"`
	HoldTime  float64 `json:"prolog-hold-seconds"`
	LastFault string  `json:"last-fault,omitempty"`
}

// New makes the hooks with a configuration. The jobs that are there are to be
// announced by Hooks.New before the reactor turns.
func New(host Host, cfg *config.Config) *Hooks {
	h := &Hooks{
		host:    host,
		cfg:     cfg,
		windows: map[uint64]*window{},
		passed:  map[uint64]passed{},

		subscribed: map[uint64]bool{},
		kept:       map[uint64]*keep{},
		unclean:    idset.New(),
		managed:    idset.New(),
		present:    idset.New(),
		verify:     idset.New(),
		gone:       idset.New(),
		timers:     map[*func()]bool{},

		returning: map[*idset.Set]bool{},

		inFlight: map[*idset.Set]*idset.Set{},
		owed:     map[uint64]*keep{},
	}
	if n := int(host.Size()); n > 0 {
		h.unclean.AddRange(0, n-1)
	}
	h.reading, h.loading = 1, 2
	h.loadBound(h.loaded)
	h.loadManaged(h.loaded)
	// Job announcements of this load come before the reactor turns.
	h.after(0, func() {
		if h.reading--; h.reading == 0 {
			h.ready()
		}
	})
	h.reading++
	h.after(cfg.ServiceTimeout, h.endGrace)
	return h
}

func (h *Hooks) after(d time.Duration, fn func()) (cancel func()) {
	var stop func()
	key := &stop
	stop = h.host.After(d, func() {
		if h.timers[key] {
			delete(h.timers, key)
			fn()
		}
	})
	h.timers[key] = true
	return func() {
		if h.timers[key] {
			delete(h.timers, key)
			stop()
		}
	}
}

// read is called when one of the things that are read at load is there.
func (h *Hooks) read() {
	if h.reading--; h.reading == 0 {
		h.ready()
	}
}

// ready tells all nodes what is wanted, when that is known: each window its
// phase, then an end of all that earlier loads asked for. The other order
// would cut off mounts in progress.
func (h *Hooks) ready() {
	if h.closed {
		return
	}
	for _, fn := range h.asked {
		fn()
	}
	h.asked = nil
	h.reset()
}

func (h *Hooks) reset() {
	n := int(h.host.Size())
	if !h.cfg.Enable || n == 0 {
		return
	}
	h.unchecked = idset.NewRange(0, n-1)
	h.checkRest()
}

// checkRest checks the ranks that are to be, but those with a wish for up on
// its way: where that has to go around a rank without an agent, the check may
// overtake it, and cut off a mount that it is to keep.
func (h *Hooks) checkRest() {
	ranks := h.unchecked
	for _, up := range h.inFlight {
		ranks = ranks.Difference(up)
	}
	if !ranks.Empty() {
		h.unchecked = h.unchecked.Difference(ranks)
		h.check(ranks)
	}
}

// check has ranks drop what is void and reach what is wanted, and learns from
// the answer which are as run wants them.
func (h *Hooks) check(ranks *idset.Set) {
	h.stats.Wishes++
	h.ask(ranks, wire.Need{Phase: phase.Idle, Gen: h.floor}, func(r wire.SetResponse, soiled *idset.Set) {
		h.learn(ranks, phase.Idle, r, soiled)
		for _, f := range r.Failed {
			switch {
			case f.Reason == wire.NotLoaded, wire.IsLost(f.Reason):
			case h.cfg.OnFailure == config.Drain:
				h.drain(f)
			default:
				h.host.Log(logErr, "ranks %s: %s", f.Ranks, f.Reason)
			}
		}
		h.wake()
	})
}

// learn takes from an answer which ranks are as run wants them.
func (h *Hooks) learn(ranks *idset.Set, p phase.Phase, r wire.SetResponse, soiled *idset.Set) {
	ok := ranks.Difference(r.FailedRanks())
	h.manage(ok)
	if !r.Waiting.Empty() {
		ok.RemoveSet(r.Waiting)
	}
	// Where there never was an agent, burrow has nothing to say.
	for _, f := range r.Failed {
		if f.Reason == wire.NotLoaded {
			ok.AddSet(f.Ranks.Difference(h.managed))
		}
	}
	if h.settled != nil || p != phase.Run && (p != phase.Idle || !h.cfg.RunIsIdle()) {
		return
	}
	for _, w := range h.windows {
		if w.gen != 0 && (w.phase == phase.Mount || w.phase == phase.Unmount) {
			ok.RemoveSet(w.ranks)
		}
	}
	for _, k := range h.kept {
		ok.RemoveSet(k.ranks)
	}
	ok.RemoveSet(soiled)
	h.unclean.RemoveSet(ok)
}

// Wanted answers job-manager.burrow.wanted: an agent that was just loaded
// follows what its rank's jobs need. reply may be called later. With enable =
// false and no window there, ok is false: the services stay as they are.
func (h *Hooks) Wanted(rank uint32, reply func(r wire.WantedResponse, ok bool)) {
	answer := func() {
		r := wire.WantedResponse{Needs: []wire.Need{}, Gen: h.floor}
		h.came(rank)
		for _, w := range h.sorted() {
			if w.gen != 0 && w.phase != phase.Idle && w.ranks.Contains(int(rank)) {
				r.Needs = append(r.Needs, wire.Need{ID: w.id, Phase: w.phase, Gen: w.gen})
			}
		}
		for _, id := range slices.Sorted(maps.Keys(h.kept)) {
			if k := h.kept[id]; k.ranks.Contains(int(rank)) {
				r.Needs = append(r.Needs, wire.Need{ID: id, Phase: phase.Unmount, Gen: k.gen})
			}
		}
		h.manage(idset.New(int(rank)))
		h.soil(idset.New(int(rank)))
		if !h.cfg.Enable && len(r.Needs) == 0 {
			reply(r, false)
			return
		}
		reply(r, true)
		if h.verify.Empty() {
			h.after(verifyDelay, func() {
				ranks := h.verify
				h.verify = idset.New()
				h.check(ranks)
			})
		}
		h.verify.Add(int(rank))
	}
	h.whenRead(answer)
}

// whenRead calls fn when what was there before this load is known.
func (h *Hooks) whenRead(fn func()) {
	if h.reading > 0 {
		h.asked = append(h.asked, fn)
		return
	}
	fn()
}

// Enabled tells whether the configuration has the hooks on.
func (h *Hooks) Enabled() bool { return h.cfg.Enable }

// Reconfigure takes a new configuration. Windows that are open go on.
func (h *Hooks) Reconfigure(cfg *config.Config) {
	old := h.cfg
	h.cfg = cfg
	if n := int(h.host.Size()); n > 0 {
		h.soil(idset.NewRange(0, n-1))
	}
	if cfg.Enable && (!old.Enable || old.RunIsIdle() && !cfg.RunIsIdle()) {
		h.takePassed()
	}
	if !reflect.DeepEqual(old.Services, cfg.Services) {
		h.unsettle()
	}
	if h.reading == 0 {
		h.reset()
	}
}

// reloadWait is how long other brokers may take until they have a new
// configuration. It reaches them after the leader (modules/config/config.c).
const reloadWait = time.Second

// unsettle has answers count for nothing for a while: agents may give them by
// another list of services.
func (h *Hooks) unsettle() {
	if h.settled != nil {
		h.settled()
	}
	h.settled = h.after(reloadWait, func() {
		h.settled = nil
		if n := int(h.host.Size()); n > 0 {
			h.soil(idset.NewRange(0, n-1))
		}
		if h.reading == 0 {
			h.reset()
		}
		h.wake()
	})
}

// Close lets go of all holds, so that no job waits for a plugin that is not
// there any more. At the job manager's own end the holds stay, in the job's
// eventlog, for the next load: then the host's functions fail, which is well.
func (h *Hooks) Close() {
	if h.closed {
		return
	}
	h.closed = true
	for key := range h.timers {
		(*key)()
	}
	h.timers = nil
	for _, w := range h.sorted() {
		if h.inherit(w) && w.prolog {
			w.prolog = false
			h.host.Log(logWarning, "%s: unloaded in its prolog: it is let go when its services are down", idString(w.id))
		}
		if w.prolog {
			w.prolog = false
			if h.host.FreeProlog(w.id, prologName, 0) == nil {
				h.host.Log(logWarning, "%s: unloaded in its prolog: let go", idString(w.id))
			}
		}
		if w.epilog {
			w.epilog = false
			if h.host.FreeEpilog(w.id, epilogName, 0) == nil {
				h.host.Log(logWarning, "%s: unloaded in its epilog: let go", idString(w.id))
			}
		}
	}
}

// idString writes a job id for a person.
func idString(id uint64) string { return "job " + jobid.ID(id).String() }
