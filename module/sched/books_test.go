// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader/idset"
)

// rOf makes an R for the KVS.
func rOf(lite, hosts string) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[%s],"nodelist":[%s],"starttime":0,"expiration":0}}`, lite, hosts)
}

// short is a site of five nodes with jobs on rank 0, on ranks 1-2 and on rank 3
// whose R in the KVS become what r says, before a reload.
func short(t *testing.T, r map[int]string, prepare func(*fakeFlux)) (*fakeFlux, []*fakeJob) {
	f := start(t, inventoryOf(5, 4, 1, ""), false)
	jobs := []*fakeJob{f.submit(nodesSpec(1, 0, "")), f.submit(nodesSpec(2, 0, "")), f.submit(nodesSpec(1, 0, ""))}
	f.run()
	f.unload()
	for i, text := range r {
		f.kvs[jobs[i].id.Key("R")] = text
	}
	f.log, f.getattrs = nil, 0
	if prepare != nil {
		prepare(f)
	}
	f.load()
	f.run()
	f.verify()
	return f, jobs
}

func (f *fakeFlux) doubts(t *testing.T, warnings, fencedJobs, fencedNodes int) {
	t.Helper()
	if n := f.logged(Warning); n != warnings || f.logged(Err) != 0 {
		t.Errorf("%d warnings, want %d:\n%s", n, warnings, strings.Join(f.log, "\n"))
	}
	if h, n := f.engine.Report().Hello, f.engine.pool.Tally().Fenced; h.Fenced != fencedJobs || n != fencedNodes {
		t.Errorf("%d jobs with fenced nodes, %d nodes, want %d and %d", h.Fenced, n, fencedJobs, fencedNodes)
	}
}

// R that is well formed and names less than the job holds, on ranks 1-2.
var shortR = []struct {
	name, r string
	fenced  int // nodes
}{
	{"one rank without children", rOf(`{"rank":"1","children":{"core":"0-3","gpu":"0"}},{"rank":"2","children":{}}`, `"n[1-2]"`), 1},
	{"one rank with zero-length children", rOf(`{"rank":"1","children":{"core":"0-3","gpu":"0"}},{"rank":"2","children":{"core":"","gpu":""}}`, `"n[1-2]"`), 1},
	{"a rank is missing", rOf(`{"rank":"1","children":{"core":"0-3","gpu":"0"}}`, `"n1"`), 1},
	{"cores are missing", rOf(`{"rank":"1-2","children":{"core":"0","gpu":"0"}}`, `"n[1-2]"`), 2},
	{"a gpu is missing", rOf(`{"rank":"1","children":{"core":"0-3"}},{"rank":"2","children":{"core":"0-3","gpu":"0"}}`, `"n[1-2]"`), 1},
	{"a rank empty, cores of the other missing", rOf(`{"rank":"1","children":{"core":"0"}},{"rank":"2","children":{}}`, `"n[1-2]"`), 2},
	{"a node of the free ones", rOf(`{"rank":"1-2,4","children":{"core":"0-1","gpu":"0"}}`, `"n[1-2,4]"`), 2},
}

// The job manager's books tell whose what is that no R names: it is kept for
// that job until its free, with one warning, and the others are let be.
func TestShortR(t *testing.T) {
	for _, tt := range shortR {
		t.Run(tt.name, func(t *testing.T) {
			f, jobs := short(t, map[int]string{1: tt.r}, nil)
			f.doubts(t, 1, 1, tt.fenced)
			w := f.submit(nodesSpec(1, 0, ""))
			next := f.submit(nodesSpec(2, 0, ""))
			f.run()
			f.end(jobs[0])
			f.end(jobs[2])
			f.run() // fakeFlux fails where anything is given out twice
			if !w.running || !next.running || next.r.Ranks.Overlaps(idset.New(1, 2)) {
				if tt.name != "a node of the free ones" {
					t.Errorf("beside the job: %t %t", w.running, next.running)
				}
			}
			f.end(jobs[1])
			f.run()
			f.verify()
			if got := f.engine.pool.Tally(); got.Fenced != 0 {
				t.Errorf("after the free %+v", got)
			}
		})
	}
}

// The older of two jobs has the younger one's R: the younger is the one that
// clashes, and where the older really is only the books know.
func TestOlderHasOthersR(t *testing.T) {
	f, jobs := short(t, map[int]string{0: rOf(`{"rank":"1","children":{"core":"0-3","gpu":"0"}}`, `"n1"`)}, nil)
	f.doubts(t, 2, 2, 3)
	w := f.submit(nodesSpec(2, 0, ""))
	f.run()
	if w.running {
		t.Errorf("a job of two nodes runs on %s", text(w.r.Ranks))
	}
	f.end(jobs[0])
	f.run()
	if !w.running || text(w.r.Ranks) != "0,4" {
		t.Errorf("after the free of the older: %+v", w.r)
	}
	f.end(jobs[1])
	f.run()
	f.verify()
	if got := f.engine.pool.Tally(); got.Fenced != 0 {
		t.Errorf("in the end %+v", got)
	}
}

// The books are asked for once, and not at all where R came out of them. The
// jobs are asked about only where there is a difference.
func TestBooksAreCheap(t *testing.T) {
	for _, tt := range []struct {
		hooks           bool
		spoil           string
		books, getattrs int
	}{
		{hooks: true}, {hooks: false, books: 1},
		{spoil: "{]", books: 1, getattrs: inFlight}, // the first answer explains all
		{spoil: rOf("", ""), books: 1, getattrs: inFlight},
	} {
		f := start(t, inventoryOf(300, 2, 0, ""), tt.hooks)
		var jobs []*fakeJob
		for range 200 {
			jobs = append(jobs, f.submit(nodesSpec(1, 0, "")))
		}
		f.run()
		f.unload()
		if tt.spoil != "" {
			f.kvs[jobs[150].id.Key("R")] = tt.spoil
		}
		books := 0
		f.services["job-manager.resource-status"] = func(p string, reply func(string, error)) {
			books++
			f.onResourceStatus(p, reply)
		}
		f.jobList, f.getattrs = false, 0
		f.load()
		f.run()
		if books != tt.books || f.getattrs != tt.getattrs {
			t.Errorf("hooks=%t R=%s: books %d, jobs asked about %d, want %d and %d", tt.hooks, tt.spoil, books, f.getattrs, tt.books, tt.getattrs)
		}
	}
}

// What is free already, not in the inventory any more, or ended since the hello
// is no difference.
func TestBooksAgree(t *testing.T) {
	f := start(t, inventoryOf(6, 2, 0, ""), false)
	j, gone := f.submit(nodesSpec(4, 0, "")), f.submit(nodesSpec(1, 0, ""))
	f.run()
	f.unload()
	f.endRanks(j, idset.New(0))
	f.inventory = strings.Replace(strings.Replace(f.inventory, `"0-5"`, `"0-2,4-5"`, 1), "n[0-5]", "n[0-2,4-5]", 1)
	f.up = idset.MustParse("0-2,4-5")
	f.services["job-manager.resource-status"] = func(p string, reply func(string, error)) {
		f.onResourceStatus(p, reply) // both as they are now
		f.end(gone)
		f.endRanks(j, idset.New(1))
	}
	f.log, f.getattrs = nil, 0
	f.load()
	f.run()
	f.verify()
	f.doubts(t, 1, 0, 0) // that rank 3 is gone
	if f.getattrs != 0 {
		t.Errorf("%d jobs were asked about", f.getattrs)
	}
	if got := f.engine.pool.Tally(); got.Idle != 4 {
		t.Errorf("%+v, want all but rank 2 idle", got)
	}
}

// Where the job manager has no R of some jobs, what is nobody's is kept until
// the last of them ends, with one warning.
func TestBooksWithoutHolder(t *testing.T) {
	f, jobs := short(t, map[int]string{1: shortR[2].r}, func(f *fakeFlux) {
		f.services["job-manager.getattr"] = func(p string, reply func(string, error)) {
			if id := jobid.ID(gjson.Get(p, "id").Uint()); id == 1001 {
				f.onGetattr(p, reply)
				return
			}
			reply("", syscall.EINVAL)
		}
	})
	f.doubts(t, 1, 2, 1)
	w := f.submit(nodesSpec(2, 0, ""))
	f.run()
	f.end(jobs[1])
	f.run()
	if !w.running || text(w.r.Ranks) != "1,4" {
		t.Errorf("after the free of one of two: %+v", w.r)
	}
	f.end(jobs[2])
	f.run()
	f.verify()
	if got := f.engine.pool.Tally(); got.Fenced != 0 {
		t.Errorf("in the end %+v", got)
	}
}

// What belongs to a job that the hello did not name is kept until the second
// hello has named it, or has not.
func TestBooksOfAnUnnamedJob(t *testing.T) {
	for _, lives := range []bool{true, false} {
		f := start(t, inventoryOf(3, 4, 0, ""), false)
		f.submit(nodesSpec(1, 0, ""))
		f.run()
		late := f.submit(nodesSpec(1, 0, ""))
		f.run()
		f.unload()
		late.running = false
		f.services["job-manager.resource-status"] = func(p string, reply func(string, error)) {
			late.running = true
			f.onResourceStatus(p, reply)
			late.running = lives
			late.ended = !lives
		}
		w := f.submit(nodesSpec(2, 0, ""))
		f.load()
		f.run()
		f.verify()
		if w.running == lives {
			t.Errorf("late job lives: %t, the next runs: %t", lives, w.running)
		}
		if n, want := f.engine.pool.Tally().Fenced, 0; n != want || f.engine.pool.Alloc(nobody) != nil {
			t.Errorf("%d nodes fenced in the end", n)
		}
		if f.engine.Report().Hello.Late == 1 != lives {
			t.Errorf("report %+v", f.engine.Report().Hello)
		}
	}
}

// After a restart of the job manager its R are those of the KVS: one that names
// nothing in both is that of a job in doubt, and one that is good in the KVS is
// taken from there.
func TestNothingInMemory(t *testing.T) {
	for _, tt := range []struct {
		good, jobList bool
		fenced        int
	}{{true, true, 0}, {false, true, 2}, {false, false, 4}} { // nobody knows: all that is not held
		f := start(t, inventoryOf(4, 4, 0, ""), true)
		f.jobList = tt.jobList
		j := f.submit(nodesSpec(2, 0, ""))
		f.run()
		f.unload()
		j.text = rOf("", "")
		if !tt.good {
			f.kvs[j.id.Key("R")] = j.text
		}
		f.log = nil
		f.load()
		f.run()
		f.verify()
		if tt.good {
			f.doubts(t, 0, 0, 0)
			continue
		}
		f.doubts(t, 1, 1, tt.fenced)
		f.end(j)
		f.run()
		if got := f.engine.pool.Tally(); got.Idle != 4 {
			t.Errorf("after the free %+v", got)
		}
	}
}

// Without the books a rank that R names nothing of is in doubt all the same.
func TestBareRankWithoutBooks(t *testing.T) {
	f, jobs := short(t, map[int]string{1: shortR[0].r}, func(f *fakeFlux) {
		delete(f.services, "job-manager.resource-status")
	})
	f.doubts(t, 1, 1, 1)
	f.end(jobs[1])
	f.run()
	if got := f.engine.pool.Tally(); got.Fenced != 0 {
		t.Errorf("after the free %+v", got)
	}
}

// A job that can't be read, and that the job manager does not show either, is
// no doubt of the others: what is fenced for it is taken to be its own.
func TestUnreadIsNoDoubtOfOthers(t *testing.T) {
	f, _ := short(t, map[int]string{1: "{]"}, func(f *fakeFlux) {
		delete(f.services, "job-manager.getattr")
	})
	f.doubts(t, 1, 1, 2)
}

// What a job let go of is not taken to be its own when another's R does not
// name it.
func TestShortRWhereAnotherWas(t *testing.T) {
	f := start(t, inventoryOf(3, 4, 0, ""), false)
	first := f.submit(nodesSpec(2, 0, ""))
	f.run()
	f.endRanks(first, idset.New(1))
	f.run()
	second := f.submit(nodesSpec(2, 0, ""))
	f.run()
	if !second.running || text(second.r.Ranks) != "1-2" {
		t.Fatalf("%+v", second.r)
	}
	f.unload()
	f.kvs[second.id.Key("R")] = rOf(`{"rank":"2","children":{"core":"0-3"}}`, `"n2"`)
	f.log = nil
	f.load()
	f.run()
	f.verify()
	f.doubts(t, 1, 1, 1)
	f.end(first)
	f.run()
	if got := f.engine.pool.Tally(); got.Fenced != 1 {
		t.Errorf("after the free of the first %+v", got)
	}
	f.end(second)
	f.run()
	if got := f.engine.pool.Tally(); got.Fenced != 0 || got.Idle != 3 {
		t.Errorf("in the end %+v", got)
	}
}
