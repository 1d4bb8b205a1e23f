// SPDX-License-Identifier: LGPL-3.0-or-later

package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flux-burrow/module/sched"
	"flux-burrow/module/sched/policy"
	"flux-burrow/t/replay/lublin"
	"flux-burrow/t/replay/measure"
	"flux-burrow/t/replay/swf"
)

func options(nodes int, kind policy.Kind) Options {
	c := sched.DefaultConfig()
	c.Policy = kind
	return Options{Nodes: nodes, CoresPerNode: 2, Config: c}
}

func play(t *testing.T, jobs []Job, o Options) *Result {
	t.Helper()
	res, err := Run(jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Log) > 0 {
		t.Errorf("the engine said: %s", strings.Join(res.Log, "\n"))
	}
	return res
}

// A schedule that can be checked by eye: four nodes, the second job waits for
// all of them, the third is short, the fourth is long, the fifth is too large.
func TestSchedule(t *testing.T) {
	jobs := []Job{
		{1, 3, 0, 10, 20}, {2, 4, 1, 10, 20}, {3, 1, 2, 5, 5}, {4, 1, 3, 5, 50}, {5, 9, 4, 1, 1}, {6, 1, 40, 90, 30},
	}
	starts := map[policy.Kind][]float64{
		policy.FIFO:         {0, 10, 20, 20, -1, 40},
		policy.Easy:         {0, 10, 2, 20, -1, 40},
		policy.Conservative: {0, 10, 2, 20, -1, 40},
	}
	for kind, want := range starts {
		res := play(t, jobs, options(4, kind))
		var got []float64
		for _, r := range res.Records {
			got = append(got, r.Start)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: starts: %s", kind, d)
		}
		if last := res.Records[5]; last.End != 70 {
			t.Errorf("%s: a job with a limit of 30 s ended at %g, want 70", kind, last.End)
		}
	}
}

// The same again is the same again.
func TestAgain(t *testing.T) {
	jobs := made(t, 64, 200, 0.9, 5)
	a := play(t, jobs, options(64, policy.Easy))
	if d := cmp.Diff(a.Records, play(t, jobs, options(64, policy.Easy)).Records); d != "" {
		t.Error(d)
	}
}

func TestSpeed(t *testing.T) {
	o := options(4, policy.Easy)
	o.Speed = 100
	begin := time.Now()
	play(t, []Job{{1, 1, 0, 5, 10}, {2, 1, 10, 5, 10}}, o)
	if d := time.Since(begin); d < 100*time.Millisecond || d > 5*time.Second {
		t.Errorf("16 s at 100 times took %s", d)
	}
}

func made(t *testing.T, nodes, jobs int, load float64, seed uint64) []Job {
	t.Helper()
	w, err := lublin.Generate(lublin.Options{Nodes: nodes, Jobs: jobs, Load: load, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	list, left := Jobs(w, nodes, 1, 1)
	if left != 0 || len(list) != jobs {
		t.Fatalf("%d jobs of %d", len(list), jobs)
	}
	return list
}

// No node is idle while a waiting job fits and nothing speaks against it.
func TestNoneIdle(t *testing.T) {
	for _, kind := range []policy.Kind{policy.FIFO, policy.Easy, policy.Conservative} {
		for seed := range uint64(5) {
			for _, nodes := range []int{64, 100} {
				res := play(t, made(t, nodes, 200, 1, seed), options(nodes, kind))
				m := measure.Measure(res.Records, measure.Options{Nodes: nodes, Policy: kind, Tau: 10})
				if m.NotStarted > 0 || m.Idle.Open != 0 {
					t.Errorf("%s, %d nodes, seed %d: %d jobs not started, idle %+v", kind, nodes, seed, m.NotStarted, m.Idle)
				}
			}
		}
	}
}

// That can be seen: fifo leaves nodes idle that easy does not.
func TestIdleIsSeen(t *testing.T) {
	res := play(t, made(t, 64, 200, 1, 1), options(64, policy.FIFO))
	for _, kind := range []policy.Kind{policy.Easy, policy.Conservative} {
		if m := measure.Measure(res.Records, measure.Options{Nodes: 64, Policy: kind}); m.Idle.Open == 0 {
			t.Errorf("the schedule of fifo looks like one of %s", kind)
		}
	}
}

// More jobs at once than one pass starts, on a machine that has room for all.
func TestBurst(t *testing.T) {
	jobs := make([]Job, 2000)
	for i := range jobs { // one alone, then all others: a pass over what is new
		jobs[i] = Job{int64(i + 1), 1, float64(min(i, 1)), 100, 200}
	}
	for _, kind := range []policy.Kind{policy.FIFO, policy.Easy, policy.Conservative} {
		res := play(t, jobs, options(2048, kind))
		late := 0
		for _, r := range res.Records {
			if r.Start != r.Submit {
				late++
			}
		}
		if late > 0 {
			t.Errorf("%s: %d of %d jobs waited beside free nodes", kind, late, len(jobs))
		}
	}
}

func TestJobs(t *testing.T) {
	line := func(submit, run, procs, req, reqTime float64) swf.Job {
		j := swf.NewJob()
		j.Submit, j.Run, j.Procs, j.ReqProcs, j.ReqTime = submit, run, int64(procs), int64(req), reqTime
		return j
	}
	w := &swf.Workload{Jobs: []swf.Job{
		line(200, 10, 9, 8, 60), line(100, 10, -1, 4, -1), line(100, -1, 4, 4, 60), line(100, 5, 1000, 4, 60), line(100, 5, -1, -1, 60),
	}}
	jobs, left := Jobs(w, 4, 4, 2)
	want := []Job{{-1, 1, 0, 10, 20}, {-1, 3, 100, 10, 60}}
	if d := cmp.Diff(want, jobs); d != "" || left != 3 {
		t.Errorf("%d left out; %s", left, d)
	}
}
