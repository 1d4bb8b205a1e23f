// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader/idset"
)

// history drives an engine with random events in random order of delivery.
type history struct {
	*fakeFlux
	t *rapid.T
	n int
}

func newHistory(t *rapid.T, tb testing.TB) *history {
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	cores := rapid.IntRange(1, 4).Draw(t, "cores")
	gpus := rapid.IntRange(0, 2).Draw(t, "gpus")
	f := newFakeFlux(tb, inventoryOf(n, cores, gpus, fmt.Sprintf(`{"a":"%s"}`, text(idset.NewRange(0, (n-1)/2)))))
	f.t = fatal{tb, t}
	f.hooks = rapid.Bool().Draw(t, "hooks")
	f.config.Policy = policy.Kind(rapid.IntRange(0, 2).Draw(t, "policy"))
	f.config.Match = resource.Order(rapid.IntRange(0, 2).Draw(t, "match"))
	f.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "line") }
	h := &history{fakeFlux: f, t: t, n: n}
	f.load()
	return h
}

// fatal makes failures of the fake ones that rapid can shrink.
type fatal struct {
	testing.TB
	t *rapid.T
}

func (f fatal) Fatal(args ...any)                 { f.t.Fatal(args...) }
func (f fatal) Fatalf(format string, args ...any) { f.t.Fatalf(format, args...) }

func (h *history) pick(label string, want func(*fakeJob) bool) *fakeJob {
	var list []*fakeJob
	for _, id := range h.ids() {
		if want(h.jobs[id]) {
			list = append(list, h.jobs[id])
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(h.t, label)
}

func (h *history) submitAny(t *rapid.T) {
	duration := float64(rapid.IntRange(0, 3).Draw(t, "duration") * 50)
	system := rapid.SampledFrom([]string{"", `"queue":"q"`, `"constraints":{"properties":["a"]}`, `"queue":"p","constraints":{"properties":["^a"]}`}).Draw(t, "system")
	k := rapid.IntRange(1, 4).Draw(t, "count")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		h.submit(nodesSpec(k, duration, system))
	case 1:
		h.submit(slotsSpec(k, rapid.IntRange(1, 2).Draw(t, "cores"), rapid.IntRange(0, 1).Draw(t, "gpus"), duration, system))
	case 2:
		h.submit(spec(fmt.Sprintf(`{"type":"node","count":{"min":1,"max":%d},"with":[{"type":"slot","count":"1-2","label":"t","with":[{"type":"core","count":1}]}]}`, k), duration, system))
	default:
		h.submit(spec(`{"type":"slot","count":"1+","label":"t","with":[{"type":"core","count":1}]}`, duration, system))
	}
}

// endOrPart ends a job, or lets go of one of its ranks.
func (h *history) endOrPart(t *rapid.T) {
	j := h.pick("end", func(j *fakeJob) bool { return j.pending || j.running })
	switch {
	case j == nil:
	case j.running && rapid.Bool().Draw(t, "part") && j.r.Ranks.Difference(j.freed).Count() > 1:
		h.endRanks(j, idset.New(j.r.Ranks.Difference(j.freed).First()))
	default:
		h.end(j)
	}
}

func (h *history) reloadNow() {
	h.unload()
	h.load()
}

// steps are what may happen.
func (h *history) steps() map[string]func(*rapid.T) {
	some := func(n int) func(*rapid.T) {
		return func(*rapid.T) {
			for range n {
				if !h.step() {
					break
				}
			}
		}
	}
	return map[string]func(*rapid.T){
		"":       func(*rapid.T) { h.check() },
		"submit": h.submitAny,
		"end":    h.endOrPart,
		"extend": func(*rapid.T) {
			if j := h.pick("extend", func(j *fakeJob) bool { return j.running }); j != nil {
				h.extend(j, h.now+1000)
			}
		},
		"priority": func(t *rapid.T) {
			if j := h.pick("priority", func(j *fakeJob) bool { return j.pending }); j != nil {
				j.priority = rapid.IntRange(1, 31).Draw(t, "to")
				h.toSched("sched.prioritize", fmt.Sprintf(`{"jobs":[[%d,%d]]}`, j.id, j.priority), nil)
			}
		},
		"nodes": func(t *rapid.T) {
			rank := rapid.IntRange(0, h.n-1).Draw(t, "rank")
			key := "down"
			if h.up.Contains(rank) {
				h.up.Remove(rank)
			} else {
				key = "up"
				h.up.Add(rank)
			}
			h.change(fmt.Sprintf(`{"%s":"%d"}`, key, rank))
		},
		"reload": func(t *rapid.T) {
			h.run()
			h.reloadNow()
			some(rapid.IntRange(0, 40).Draw(t, "way"))(t)
			for range rapid.IntRange(0, 2).Draw(t, "ends") {
				h.endOrPart(t)
			}
		},
		"commit and end": func(t *rapid.T) {
			h.run()
			h.submitAny(t)
			some(rapid.IntRange(1, 8).Draw(t, "way"))(t)
			h.endOrPart(t)
		},
		"run":     func(*rapid.T) { h.run() },
		"time":    func(t *rapid.T) { h.now += float64(rapid.IntRange(1, 60).Draw(t, "seconds")) },
		"commits": func(*rapid.T) { h.failNext++ },
		"step":    some(1),
		"steps":   some(10),
	}
}

// check holds at any moment.
func (h *history) check() {
	if h.stopped {
		h.t.Fatalf("the engine stopped: %v", h.stopErr)
	}
	if h.engine.pool == nil {
		return
	}
	if err := h.engine.pool.Verify(); err != nil {
		h.t.Fatal(err)
	}
}

// settle lets all be delivered, then compares the engine's view with the job
// manager's.
func (h *history) settle() {
	h.run()
	for range 5 {
		h.advance(2)
	}
	h.check()
	if h.engine.Phase() != Ready {
		h.t.Fatalf("phase %s at rest", h.engine.Phase())
	}
	held := h.held()
	for id, j := range h.jobs {
		want := ""
		if j.running {
			want = j.r.Set.RemoveRanks(j.freed).String()
		}
		if held[id] != want {
			h.t.Fatalf("%s holds %q, should be %q", id, held[id], want)
		}
		delete(held, id)
	}
	if len(held) > 0 {
		h.t.Fatalf("leaked: %v", held)
	}
}

// Under any history nothing is given out twice (the fake job manager looks),
// and at rest the engine has what the job manager has: after a reload too.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(rt, t)
		rt.Repeat(h.steps())
		h.settle()
		before := h.held()
		h.reloadNow()
		h.settle()
		if after := h.held(); fmt.Sprint(after) != fmt.Sprint(before) {
			// Jobs may have started since; those that ran hold the same.
			for id, r := range before {
				if after[id] != r {
					rt.Fatalf("%s holds %q after the reload, %q before", id, after[id], r)
				}
			}
		}
	})
}

// No job waits for ever: once all that run have ended, in any order, the next
// ones start.
func TestNobodyStarves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(rt, t)
		h.settle()
		h.up = h.upAll()
		h.change(fmt.Sprintf(`{"up":"%s"}`, text(h.up)))
		for range rapid.IntRange(1, 12).Draw(rt, "jobs") {
			h.submitAny(rt)
		}
		for range 30 {
			h.run()
			h.advance(2)
			if j := h.pick("end", func(j *fakeJob) bool { return j.running }); j != nil {
				h.end(j)
			}
		}
		h.settle()
		for _, j := range h.jobs {
			if !j.ended {
				rt.Fatalf("%s never started: %s", j.id, j.spec)
			}
		}
	})
}

func (h *history) upAll() *idset.Set { return idset.NewRange(0, h.n-1) }
