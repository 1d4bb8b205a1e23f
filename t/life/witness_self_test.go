// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/t/embed"
)

// The same seed gives the same history, to the step.
func TestHistoryRepeats(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		if a, b := trace(seed), trace(seed); a != b {
			t.Errorf("seed %d: %s, then %s", seed, a, b)
		}
	}
}

func trace(seed uint64) string {
	h := newHistory(seed)
	w := newWorld(h.setup)
	for _, a := range h.actions {
		w.advance(a.wait)
		for range a.steps {
			w.in.Step()
		}
		w.do(a)
	}
	w.check()
	s := fmt.Sprint(w.in.Elapsed(), w.in.Steps(), w.nodes.procs, len(w.in.Log()))
	w.close()
	return s
}

// The witness can tell: each guarantee, violated by a hand that is not
// burrow's, is noticed.
func TestWitness(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *world)
		want  string
	}{
		"a service comes up under a start": {func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.job(id).env && w.job(id).holds["burrow-prolog"] == 0 }, 1e10)
			w.nodes.up[place{0, theUnit}] = true
			w.advance(1e9)
			w.nodes.up[place{0, theUnit}] = false
		}, "G1: tasks of"},
		"a mount is cut off": {func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.nodes.mountable(w.job(id).ranks) && w.job(id).mountSince != never }, 1e10)
			w.advance(1e7)
			w.nodes.run(embed.Command{Rank: 0, Args: []string{"svc", "stop"},
				Env: map[string]string{"BURROW_RANK": "0", "BURROW_UNIT": theUnit, "BURROW_VERB": "stop"}})
		}, "G2: "},
		"a hold is finished twice": {func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.job(id).running }, 1e10)
			w.in.PostEvent(id, "prolog-finish", `{"description":"burrow-prolog","status":0}`)
		}, "G3: burrow-prolog"},
		"a mount without a hold": {func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.job(id).mountSince != never }, 1e10)
			w.in.PostEvent(id, "prolog-finish", `{"description":"burrow-prolog","status":0}`)
		}, "G1: "},
		"a hold stays when the plugin is gone": {func(w *world) {
			w.Gone = true
			w.removePlugin()
			id := w.submit(embed.Jobspec{Nodes: 2, Exclusive: true, Run: embed.Forever})
			w.run(func() bool { return w.job(id).running }, 1e10)
			_ = w.in.Cancel(id)
			w.in.PostEvent(id, "epilog-start", `{"description":"burrow-epilog"}`)
		}, "the plugin is gone"},
		"a service is up beside a job that runs": {func(w *world) {
			w.submit(embed.Jobspec{Nodes: 2, Exclusive: true, Run: embed.Forever})
			w.advance(1e9)
			w.nodes.up[place{1, theUnit}] = true
		}, "G4: " + theUnit + " on rank 1 is up while"},
		"a hold is never finished": {func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.job(id).holds["dws-epilog"] > 0 }, 1e10)
			w.in.PostEvent(id, "epilog-start", `{"description":"burrow-epilog"}`)
		}, "G3: "},
		"a service is left up": {func(w *world) { w.nodes.up[place{1, theUnit}] = true }, "G4: "},
		"a drain without a reason": {func(w *world) {
			_, _ = w.in.RPC(0, 0, "resource.drain", `{"targets":"1","reason":"burrow: stop x: no"}`)
		}, "G6: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(setup{SetupDelay: 3e8, PostRunDelay: 3e8})
			c.spoil(w)
			w.check()
			found := false
			for _, b := range w.close() {
				found = found || strings.Contains(b, c.want)
			}
			if !found {
				t.Errorf("not noticed: %q", w.broken)
			}
		})
	}
}
