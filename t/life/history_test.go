// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"flux-burrow/t/embed"
)

// history is a world and what happens in it.
type history struct {
	setup
	actions []action
}

// action is one thing that happens, some time and some steps after the one
// before. What its numbers name is taken modulo what there is, so that any
// part of a history is a history.
type action struct {
	wait  time.Duration
	steps int
	kind  kind
	a, b  int
	job   embed.Jobspec
	how   int // of a rabbit job: see the constants below
	conf  setup
}

type kind int

const (
	submit kind = iota
	cancel
	raise
	finish
	misbehave
	heal
	killAgent
	unloadAgent
	loadAgent
	loseRank
	returnRank
	removePlugin
	loadPlugin
	restartJobManager
	restartBroker
	release
	removeDWS
	loadDWS
	reloadConfig
	badConfig
	steal
	reloadAgent
	kinds
)

var kindNames = [kinds]string{"submit", "cancel", "raise", "finish", "misbehave", "heal", "kill-agent", "unload-agent",
	"load-agent", "lose-rank", "return-rank", "remove-plugin", "load-plugin", "restart-job-manager",
	"restart-broker", "release", "remove-dws", "load-dws", "reload-config", "bad-config", "steal", "reload-agent"}

// weights of the actions.
var weights = [kinds]int{submit: 30, cancel: 9, raise: 3, finish: 4, misbehave: 8, heal: 3, killAgent: 4,
	unloadAgent: 2, loadAgent: 6, loseRank: 3, returnRank: 4, removePlugin: 3, loadPlugin: 4,
	restartJobManager: 3, restartBroker: 1, release: 1, removeDWS: 2, loadDWS: 4, reloadConfig: 2, badConfig: 1, steal: 1, reloadAgent: 3}

// how a rabbit job's dws side goes.
const (
	wellDone = iota
	givenUp
	noEnvironment
	setupFails
)

var howNames = [...]string{"", " given up", " no environment", " setup fails"}

func (a action) String() string {
	s := fmt.Sprintf("+%-8v %d steps  %s", a.wait, a.steps, kindNames[a.kind])
	switch a.kind {
	case submit:
		s += fmt.Sprintf(" nodes %d run %v rabbit %t%s", a.job.Nodes, a.job.Run, a.job.DW != nil, howNames[a.how])
	case misbehave:
		s += fmt.Sprintf(" rank %d verb %d %v", a.a, a.b, mishap(a.how))
	case reloadConfig:
		s += fmt.Sprintf(" %q", a.conf.toml())
	default:
		s += fmt.Sprintf(" %d", a.a)
	}
	return s
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", h.setup)
	for _, a := range h.actions {
		fmt.Fprintf(&b, "  %v\n", a)
	}
	return b.String()
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// newHistory makes the history of a seed.
func newHistory(seed uint64) history {
	r := rand.New(rand.NewPCG(seed, 5))
	h := history{setup: setup{
		Seed:         seed,
		Size:         2 + r.IntN(4),
		Shared:       r.IntN(3) == 0,
		DWS:          dwsOrder(r.IntN(2)),
		SetupDelay:   pick(r, 0, 100*time.Millisecond, 600*time.Millisecond),
		PostRunDelay: pick(r, 0, 100*time.Millisecond, 600*time.Millisecond),
		EpilogLimit:  pick(r, 0, 0, 4*time.Second),
		Latency:      pick(r, 0, 0, time.Millisecond),
		Once:         r.IntN(4) == 0,
		NoReattach:   r.IntN(4) == 0,
		LostAfter:    pick(r, 0, 0, 0, 300*time.Millisecond, 2*time.Second),
		Kill:         pick(r, 0, 0, 3*serviceTimeout),
		Gone:         r.IntN(4) == 0,
		Sick:         r.IntN(4) == 0,
	}}
	h.configure(r)
	h.Topology = pick(r, "kary:0", "kary:2", custom(r, h.Size))
	if r.IntN(25) == 0 {
		h.DWS = dwsNone
	}
	for range 6 + r.IntN(11) {
		h.actions = append(h.actions, newAction(r, h.setup))
	}
	return h
}

// configure makes what is in the [burrow] table.
func (s *setup) configure(r *rand.Rand) {
	s.OnFailure = pick(r, "", "", "drain", "raise", "ignore")
	s.Tolerate = pick(r, 0, 0, 0, 1)
	s.EnvTimeout = pick(r, 0, 0, 3*time.Second)
	s.Services = services(r)
	s.NoStatus = r.IntN(10) == 0
	s.Timeout = pick(r, 0, 0, 0, time.Second, 2*serviceTimeout)
}

func services(r *rand.Rand) []service {
	switch r.IntN(8) {
	case 0:
		return []service{{theUnit, `"idle", "mount", "unmount"`}}
	case 1, 2:
		return []service{{theUnit, `"mount", "unmount"`}, {"nnf-dm.service", `"mount"`}}
	case 3:
		return []service{{"jitter.service", `"idle"`}, {theUnit, `"mount", "unmount"`}}
	}
	return nil
}

// custom makes a tree where each rank's parent is any lower one.
func custom(r *rand.Rand, size int) string {
	parents := make([]string, 0, size)
	for i := 1; i < size; i++ {
		parents = append(parents, fmt.Sprint(r.IntN(i)))
	}
	return "custom:" + strings.Join(parents, ",")
}

func newAction(r *rand.Rand, s setup) action {
	a := action{a: r.IntN(64), b: r.IntN(64)}
	switch r.IntN(4) {
	case 0: // at the same time
	case 1:
		a.wait = time.Duration(r.IntN(60)) * time.Millisecond
	default:
		a.wait = time.Duration(r.IntN(900)) * time.Millisecond
	}
	if r.IntN(2) == 0 {
		a.steps = r.IntN(40)
	}
	total := 0
	for _, n := range weights {
		total += n
	}
	n := r.IntN(total)
	for a.kind = 0; n >= weights[a.kind]; a.kind++ {
		n -= weights[a.kind]
	}
	switch a.kind {
	case submit:
		a.job = embed.Jobspec{Nodes: 1 + r.IntN(s.Size), Exclusive: !s.Shared,
			Run: pick(r, 0, 50*time.Millisecond, 400*time.Millisecond, 2*time.Second, embed.Forever)}
		if r.IntN(3) > 0 {
			a.job.DW = dw
			a.how = pick(r, wellDone, wellDone, wellDone, wellDone, wellDone, givenUp, noEnvironment, setupFails)
		}
		if r.IntN(4) == 0 {
			a.job.Status = 1 << 8
		}
	case reloadConfig:
		a.conf.configure(r)
		a.conf.Off = r.IntN(4) == 0
	case misbehave:
		a.how = 1 + r.IntN(int(mishaps)-1)
	}
	return a
}

// live plays a history to its end and gives what it violated. With verbose
// set, it gives a log too.
func (h history) live(verbose bool) (broken []string, text string) {
	defer func() {
		if r := recover(); r != nil {
			broken = append(broken, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	w := newWorld(h.setup)
	for _, a := range h.actions {
		w.advance(a.wait)
		for range a.steps {
			w.in.Step()
		}
		w.do(a)
		if len(w.broken) > 0 {
			break
		}
	}
	if len(w.broken) == 0 {
		w.check()
	}
	if verbose {
		text = w.dump()
	}
	return w.close(), text
}

var verbs = []string{"start", "stop", "status"}

func (w *world) do(a action) {
	rank := a.a % w.Size
	switch a.kind {
	case submit:
		id := w.submit(a.job)
		switch a.how {
		case givenUp:
			w.giveUp[id] = true
		case noEnvironment:
			w.noEnv[id] = true
		case setupFails:
			w.setupFail[id] = true
		}
	case cancel, raise, finish, steal:
		ids := w.in.Active()
		if len(ids) == 0 {
			return
		}
		id := ids[a.a%len(ids)]
		switch a.kind {
		case cancel:
			_ = w.in.Cancel(id)
		case raise:
			_ = w.in.Raise(id, "test", a.b%2, "of the test")
		case finish:
			w.in.Finish(id, (a.b%2)<<8)
		case steal:
			w.steal(id)
		}
	case misbehave:
		s := w.cfg.Services[a.b%len(w.cfg.Services)]
		w.nodes.set(fault{place{rank, s.Unit}, verbs[a.b/8%len(verbs)]}, mishap(a.how))
	case heal:
		w.nodes.heal()
	case killAgent:
		w.killAgent(rank)
	case unloadAgent:
		w.unloadAgent(rank)
	case loadAgent:
		w.loadAgents()
	case reloadAgent:
		w.reloadAgent(rank, time.Duration(a.b)*20*time.Millisecond)
	case loseRank:
		w.loseRank(rank)
	case returnRank:
		for r := range w.Size {
			w.returnRank(r)
		}
	case removePlugin:
		if w.pluginUp && a.b%4 == 0 {
			// So early that it may not know what it holds.
			w.restartJobManager()
			w.advance(time.Duration(a.b) * time.Millisecond)
		}
		w.removePlugin()
	case loadPlugin:
		if !w.Gone {
			w.loadPlugin()
		}
	case removeDWS:
		w.removeDWS()
	case loadDWS:
		w.reloadDWS()
	case reloadConfig:
		w.reload(a.conf)
	case badConfig:
		w.badReload(a.a)
	case restartJobManager:
		w.restartJobManager()
	case restartBroker:
		w.restartBroker()
	case release:
		if w.active() {
			if err := w.release(w.allRanks()); err != nil {
				w.violated("release: %v", err)
			}
		}
	}
}
