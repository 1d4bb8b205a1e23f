// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// moment is a phase of a rabbit job's life, by what can be seen of it.
type moment struct {
	name string
	is   func(w *world, j *jobSeen) bool
}

var moments = []moment{
	{"mount", func(w *world, j *jobSeen) bool { return j.holds["dws-setup"] > 0 && w.nodes.mountable(j.ranks) }},
	{"stop", func(_ *world, j *jobSeen) bool { return j.env && j.holds["burrow-prolog"] > 0 }},
	{"start", func(_ *world, j *jobSeen) bool { return j.env && j.holds["burrow-prolog"] == 0 && !j.start }},
	{"run", func(_ *world, j *jobSeen) bool { return j.running }},
	{"unmount", func(w *world, j *jobSeen) bool { return j.holds["dws-epilog"] > 0 && w.nodes.mountable(j.ranks) }},
	{"idle", func(_ *world, j *jobSeen) bool {
		return j.ended && j.holds["dws-epilog"] == 0 && j.holds["burrow-epilog"] > 0
	}},
}

// reach runs until a job is in a phase.
func (w *world) reach(t *testing.T, id embed.JobID, m moment) {
	t.Helper()
	if !w.run(func() bool { return m.is(w, w.job(id)) }, time.Minute) {
		t.Fatalf("%s was not reached\n%s", m.name, w.dump())
	}
}

var topologies = []string{"kary:0", "kary:2", "custom:0,1,1"}

// each runs a test on trees, and with dws before and after burrow.
func each(t *testing.T, s setup, fn func(t *testing.T, w *world)) {
	for _, topology := range topologies {
		for _, order := range []dwsOrder{dwsFirst, dwsLast} {
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("%s/dws%d/seed%d", topology, order, seed), func(t *testing.T) {
					s := s
					s.Topology, s.Seed = topology, seed
					if s.DWS != dwsNone {
						s.DWS = order
					}
					if s.SetupDelay == 0 {
						s.SetupDelay, s.PostRunDelay = 200*time.Millisecond, 200*time.Millisecond
					}
					w := newWorld(s)
					fn(t, w)
					w.check()
					text := w.dump()
					if broken := w.close(); len(broken) > 0 {
						t.Errorf("%q\n%s", broken, text)
					}
				})
			}
		}
	}
}

func (w *world) rabbit(nodes int) embed.JobID {
	return w.submit(embed.Jobspec{Nodes: nodes, Exclusive: !w.Shared, DW: dw, Run: 300 * time.Millisecond})
}

// exceptions gives the types of a job's fatal exceptions.
func (w *world) exceptions(id embed.JobID) (types []string) {
	for _, e := range w.in.Eventlog(id) {
		if e.Name == "exception" {
			types = append(types, field(e, "type"))
		}
	}
	return types
}

func (w *world) ends(t *testing.T, id embed.JobID) {
	t.Helper()
	if !w.run(func() bool { return w.in.State(id) == embed.StateInactive }, 2*time.Minute) {
		t.Fatalf("it did not end\n%s", w.dump())
	}
}

// Each thing that can be taken away and brought back, in each phase: the job
// goes on as if nothing had been, where nothing of its nodes was taken.
func TestRestartInEachPhase(t *testing.T) {
	for _, r := range []struct {
		name string
		do   func(w *world)
		// harmless: the job ends well.
		harmless bool
	}{
		{"job-manager", func(w *world) { w.restartJobManager() }, true},
		{"broker", func(w *world) { w.restartBroker() }, true},
		{"plugin", func(w *world) { w.removePlugin(); w.advance(20 * time.Millisecond); w.loadPlugin() }, true},
		{"plugin, at once", func(w *world) { w.removePlugin(); w.loadPlugin() }, true},
		{"agent killed", func(w *world) { w.killAgent(1); w.advance(20 * time.Millisecond); w.loadAgent(1) }, false},
		{"leader's agent killed", func(w *world) { w.killAgent(0); w.advance(20 * time.Millisecond); w.loadAgent(0) }, false},
		{"agent unloaded", func(w *world) { w.unloadAgent(1); w.advance(20 * time.Millisecond); w.loadAgent(1) }, false},
		{"rank lost", func(w *world) { w.loseRank(1); w.advance(20 * time.Millisecond); w.returnRank(1) }, false},
		{"agent killed, job-manager", func(w *world) { w.killAgent(1); w.restartJobManager(); w.advance(time.Second); w.loadAgent(1) }, false},
	} {
		for _, m := range moments {
			t.Run(r.name+"/"+m.name, func(t *testing.T) {
				each(t, setup{}, func(t *testing.T, w *world) {
					id := w.rabbit(4)
					w.reach(t, id, m)
					r.do(w)
					if !r.harmless {
						w.advance(time.Second)
						return
					}
					w.ends(t, id)
					if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
						t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
					}
				})
			})
		}
	}
}

// A cancel, and an exception, in each phase.
func TestCancelInEachPhase(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			each(t, setup{}, func(t *testing.T, w *world) {
				id := w.rabbit(4)
				w.reach(t, id, m)
				if err := w.in.Cancel(id); err != nil {
					t.Fatal(err)
				}
				w.ends(t, id)
			})
		})
	}
}
