// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/rv1reader/idset"
)

// both runs a test with R out of the job manager's memory and out of the KVS.
func both(t *testing.T, f func(t *testing.T, hooks bool)) {
	for _, hooks := range []bool{true, false} {
		t.Run(fmt.Sprintf("hooks=%t", hooks), func(t *testing.T) { f(t, hooks) })
	}
}

func start(t *testing.T, inventory string, hooks bool) *fakeFlux {
	f := newFakeFlux(t, inventory)
	f.hooks = hooks
	f.load()
	f.run()
	if f.engine.Phase() != Ready {
		t.Fatalf("phase %s after the start; log:\n%s", f.engine.Phase(), strings.Join(f.log, "\n"))
	}
	return f
}

func (f *fakeFlux) reload() {
	f.unload()
	f.load()
	f.run()
	f.verify()
}

// Case a: four jobs run, a reload, a fifth waits for one of them.
func TestReloadUnderJobs(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(4, 4, 0, ""), hooks)
		var jobs []*fakeJob
		for range 4 {
			jobs = append(jobs, f.submit(nodesSpec(1, 100, "")))
		}
		f.run()
		before := f.held()
		f.log = nil
		f.reload()
		if after := f.held(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Fatalf("held %v, before the reload %v", after, before)
		}
		if f.logged(Warning)+f.logged(Err) > 0 {
			t.Errorf("a warning of a plain reload:\n%s", strings.Join(f.log, "\n"))
		}
		fifth := f.submit(nodesSpec(1, 100, ""))
		f.run()
		if fifth.running {
			t.Fatal("the fifth job runs on a node that is in use")
		}
		f.end(jobs[2])
		f.run()
		if !fifth.running || text(fifth.r.Ranks) != "2" {
			t.Fatalf("the fifth job has %v after the third ended", fifth.r)
		}
		if got := f.engine.Report().Hello; got.Jobs != 4 || got.Fenced != 0 || (got.Source == "kvs") == hooks {
			t.Errorf("hello report %+v", got)
		}
		f.verify()
	})
}

// Case e: part of a job was freed, with and without a scheduler there.
func TestPartlyFreed(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(6, 2, 0, ""), hooks)
		j := f.submit(nodesSpec(6, 0, ""))
		f.run()
		f.endRanks(j, idset.New(0, 1))
		f.run()
		f.unload()
		f.endRanks(j, idset.New(2))
		f.load()
		for f.engine.Phase() != Announce {
			f.step()
		}
		f.endRanks(j, idset.New(3)) // after the hello, before ready
		f.run()
		f.verify()
		w := f.submit(nodesSpec(4, 0, ""))
		f.run()
		if !w.running || text(w.r.Ranks) != "0-3" {
			t.Fatalf("ranks 0-3 are free, the next job has %+v", w.r)
		}
		f.end(j)
		f.end(w)
		f.run()
		if n := f.engine.pool.Jobs(); n != 0 {
			t.Errorf("%d jobs left", n)
		}
		f.verify()
	})
}

// A node that housekeeping let go of is an older job's by now.
func TestFreedAndTaken(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(3, 2, 0, ""), hooks)
		first := f.submit(nodesSpec(3, 0, ""))
		f.run()
		older := f.submit(nodesSpec(1, 0, ""))
		j := f.submit(nodesSpec(3, 0, ""))
		j.priority = 30
		f.toSched("sched.prioritize", fmt.Sprintf(`{"jobs":[[%d,30]]}`, j.id), nil)
		f.end(first)
		f.run()
		f.endRanks(j, idset.New(1))
		f.run()
		if !older.running || text(older.r.Ranks) != "1" || older.id > j.id {
			t.Fatalf("%s should have rank 1: %+v", older.id, older.r)
		}
		f.log = nil
		f.reload()
		if h := f.engine.Report().Hello; h.Fenced != 0 || f.logged(Warning) > 0 {
			t.Errorf("report %+v:\n%s", h, strings.Join(f.log, "\n"))
		}
		if got := f.held()[j.id]; got != "rank[0,2]/core[0-1]" {
			t.Errorf("%s holds %s", j.id, got)
		}
	})
}

// Case i: 200 of 1,500 jobs end between hello and ready.
func TestLostFrees(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(1500, 2, 0, ""), hooks)
		var jobs []*fakeJob
		for range 1500 {
			jobs = append(jobs, f.submit(nodesSpec(1, 0, "")))
		}
		f.run()
		f.unload()
		f.end(jobs[0]) // while none is loaded
		f.load()
		for f.engine.Phase() != Announce {
			f.step()
		}
		for i := 100; i < 300; i++ {
			f.end(jobs[i])
		}
		f.run()
		f.verify()
		if n := f.engine.pool.Jobs(); n != 1299 {
			t.Errorf("%d jobs hold resources, 1299 run", n)
		}
		if n := f.engine.Report().Hello.Lost; n != 200 {
			t.Errorf("%d lost frees found, there were 200", n)
		}
	})
}

// Case f: nodes that changed under a job.
func TestChangedInventory(t *testing.T) {
	hosts := func(list string, ranks string) string {
		return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[{"rank":"%s","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["%s"]}}`, ranks, list)
	}
	tests := []struct {
		name, inventory, up string
		held                string // of the job on ranks 1-2
		fenced              int
		warnings            int
		idle                int
	}{
		{"drained", hosts("n[0-4]", "0-4"), "0,2-4", "rank[1-2]/core[0-3]", 0, 0, 3},
		{"excluded", hosts("n[0,2-4]", "0,2-4"), "0,2-4", "rank2/core[0-3]", 0, 1, 3},
		{"gone", hosts("n[0-1]", "0-1"), "0-1", "rank1/core[0-3]", 0, 1, 1},
		{"renamed", hosts("n[0-1],x,n[3-4]", "0-4"), "0-4", "rank1/core[0-3]", 1, 1, 3},
		{"moved", hosts("n[0-1],n3,n2,n4", "0-4"), "0-4", "rank1/core[0-3]", 2, 1, 2},
		{"brokers of one host", hosts("vm,vm,vm,vm", "0,2-4"), "0,2-4", "rank2/core[0-3]", 0, 1, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, hooks bool) {
				before := inventoryOf(5, 4, 0, "")
				if strings.Contains(tt.inventory, "vm") {
					before = hosts("vm,vm,vm,vm,vm", "0-4")
				}
				f := start(t, before, hooks)
				first := f.submit(nodesSpec(1, 0, ""))
				f.run()
				j := f.submit(nodesSpec(2, 0, ""))
				f.run()
				f.end(first)
				f.run()
				f.unload()
				f.inventory, f.up = tt.inventory, idset.MustParse(tt.up)
				f.log = nil
				f.load()
				f.run()
				f.verify()
				if got := f.held()[j.id]; got != tt.held {
					t.Errorf("held is %s, want %s", got, tt.held)
				}
				if got := f.engine.pool.Tally(); got.Fenced != tt.fenced || got.Idle != tt.idle {
					t.Errorf("tally %+v, want %d fenced, %d idle", got, tt.fenced, tt.idle)
				}
				if n := f.logged(Warning); n != tt.warnings {
					t.Errorf("%d warnings, want %d:\n%s", n, tt.warnings, strings.Join(f.log, "\n"))
				}
				f.end(j)
				f.run()
				f.verify()
				if got := f.engine.pool.Tally(); got.Idle != got.Up {
					t.Errorf("after the free %+v", got)
				}
			})
		})
	}
}

// A node that goes down is given to nobody until it is up again.
func TestDownNode(t *testing.T) {
	f := start(t, inventoryOf(2, 4, 0, ""), true)
	f.change(`{"down":"0"}`)
	f.run()
	a, b := f.submit(nodesSpec(1, 0, "")), f.submit(nodesSpec(1, 0, ""))
	f.run()
	if !a.running || text(a.r.Ranks) != "1" || b.running {
		t.Fatalf("with rank 0 down: %+v, the next runs: %t", a.r, b.running)
	}
	f.change(`{"up":"0"}`)
	f.run()
	if !b.running || text(b.r.Ranks) != "0" {
		t.Errorf("with rank 0 up: %+v", b.r)
	}
	f.verify()
}

// Case g: R that can't be used. The job lives on, its nodes are kept.
func TestBadR(t *testing.T) {
	tests := []struct{ name, r string }{
		{"missing", "-"},
		{"empty", ""},
		{"not JSON", "{]"},
		{"a string", `"x"`},
		{"empty object", "{}"},
		{"wrong version", `{"version":9,"execution":{"R_lite":[{"rank":"1-2","children":{"core":"0-3"}}],"nodelist":["n[1-2]"],"starttime":0,"expiration":0}}`},
		{"bad idset", `{"version":1,"execution":{"R_lite":[{"rank":"1-","children":{"core":"0-3"}}],"nodelist":["n[1-2]"],"starttime":0,"expiration":0}}`},
		{"no R_lite", `{"version":1,"execution":{"starttime":0,"expiration":0}}`},
		{"an empty R_lite", `{"version":1,"execution":{"R_lite":[],"nodelist":[],"starttime":0,"expiration":0}}`},
		{"no children", `{"version":1,"execution":{"R_lite":[{"rank":"1-2","children":{}}],"nodelist":["n[1-2]"],"starttime":0,"expiration":0}}`},
		{"zero-length children", `{"version":1,"execution":{"R_lite":[{"rank":"1-2","children":{"core":"","gpu":""}}],"nodelist":["n[1-2]"],"starttime":0,"expiration":0}}`},
		{"no ranks", `{"version":1,"execution":{"R_lite":[{"rank":"","children":{"core":"0-3"}}],"nodelist":[],"starttime":0,"expiration":0}}`},
		{"overlaps", `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-3"}}],"nodelist":["n0"],"starttime":0,"expiration":0}}`},
	}
	for _, tt := range tests {
		for _, help := range []string{"job-list", "job-manager", "nobody"} {
			t.Run(tt.name+" "+help, func(t *testing.T) {
				f := start(t, inventoryOf(5, 4, 0, ""), false)
				f.submit(nodesSpec(1, 0, ""))
				f.run()
				j := f.submit(nodesSpec(2, 0, ""))
				f.run()
				f.unload()
				f.jobList = help == "job-list"
				if help == "nobody" {
					delete(f.services, "job-manager.resource-status")
				}
				f.kvs[j.id.Key("R")] = tt.r
				if tt.r == "-" {
					delete(f.kvs, j.id.Key("R"))
				}
				f.log = nil
				f.load()
				f.run()
				f.verify()
				warnings := 1
				if help == "nobody" {
					warnings = 2 // that the job manager is no help
				}
				if n := f.logged(Warning); n != warnings || f.logged(Err) != 0 {
					t.Errorf("%d warnings:\n%s", n, strings.Join(f.log, "\n"))
				}
				if h := f.engine.Report().Hello; h.Jobs != 2 || h.Fenced != 1 {
					t.Errorf("report %+v", h)
				}
				w := f.submit(nodesSpec(1, 0, ""))
				f.run()
				if w.running != (help != "nobody") {
					t.Errorf("the next job runs: %t", w.running)
				}
				f.end(j)
				f.run()
				f.verify()
				if !w.running {
					t.Error("the next job does not run after the free")
				}
				if got := f.engine.pool.Tally(); got.Fenced != 0 {
					t.Errorf("after the free %+v", got)
				}
			})
		}
	}
}

// Of two jobs on one node both R are of no use, and nobody knows where they are:
// when one ends the node is still the other's.
func TestTwoBadR(t *testing.T) {
	const foreign = `{"version":9,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-3"}}],"nodelist":["n0"],"starttime":0,"expiration":0}}`
	for _, r := range []string{"", foreign} {
		for _, help := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s help=%t", r, help), func(t *testing.T) {
				f := start(t, inventoryOf(2, 4, 0, ""), false)
				a, b := f.submit(slotsSpec(1, 2, 0, 0, "")), f.submit(slotsSpec(1, 2, 0, 0, ""))
				f.run()
				f.unload()
				f.jobList = false
				if !help {
					delete(f.services, "job-manager.resource-status")
				}
				f.kvs[a.id.Key("R")], f.kvs[b.id.Key("R")] = "", r
				f.load()
				f.run()
				f.end(b)
				w := f.submit(nodesSpec(1, 0, ""))
				f.run()
				f.verify()
				if w.running && text(w.r.Ranks) == "0" {
					t.Error("the node is given out while a job is on it")
				}
				f.end(a)
				f.run()
				f.verify()
				if !w.running || f.engine.pool.Tally().Fenced != 0 {
					t.Errorf("in the end %+v", f.engine.pool.Tally())
				}
			})
		}
	}
}

// Case h: an extension before and after a reload.
func TestExtendedExpiration(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(2, 4, 0, ""), hooks)
		a := f.submit(nodesSpec(1, 100, ""))
		b := f.submit(nodesSpec(1, 100, ""))
		f.run()
		f.extend(a, f.now+5000)
		f.run()
		f.reload()
		if got := f.engine.pool.Alloc(a.id).Expiration; got != f.now+5000 {
			t.Errorf("expiration is %f, want %f", got, f.now+5000)
		}
		if got := f.engine.pool.Alloc(b.id).Expiration; got != f.now+100 {
			t.Errorf("expiration of the other is %f, want %f", got, f.now+100)
		}
		f.extend(b, f.now+7000)
		f.run()
		if got := f.engine.pool.Alloc(b.id).Expiration; got != f.now+7000 {
			t.Errorf("expiration of the other is %f, want %f", got, f.now+7000)
		}
	})
}

// Without the hooks look-ups are pipelined, and never more than so many.
func TestPipelined(t *testing.T) {
	f := start(t, inventoryOf(500, 2, 0, ""), false)
	for range 500 {
		f.submit(nodesSpec(1, 0, ""))
	}
	f.run()
	f.unload()
	f.lookups, f.maxOpen = 0, 0
	f.load()
	f.run()
	if f.maxOpen != inFlight || f.lookups != 1+1000 { // one is of the reservations
		t.Errorf("%d look-ups, at most %d at once", f.lookups, f.maxOpen)
	}
	f.verify()
}
