// SPDX-License-Identifier: LGPL-3.0-or-later

package measure

import (
	"math"
	"testing"

	"flux-burrow/module/sched/policy"
)

// Four nodes. Job 1 has three from 0 to 10 of a limit of 20; job 2 wants all
// four; job 3 wants one.
func records(limit3, start3, end3, start2 float64) []Record {
	return []Record{
		{ID: 1, Nodes: 3, Submit: 0, Start: 0, End: 10, Limit: 20},
		{ID: 2, Nodes: 4, Submit: 1, Start: start2, End: start2 + 10, Limit: 20},
		{ID: 3, Nodes: 1, Submit: 2, Start: start3, End: end3, Limit: limit3},
	}
}

func TestReport(t *testing.T) {
	jobs := append(records(5, 20, 25, 10), Record{ID: 4, Nodes: 9, Submit: 3, Start: -1, End: -1})
	r := Measure(jobs, Options{Nodes: 4, Tau: 10})
	want := Report{Jobs: 4, NotStarted: 1, Makespan: 25, Utilisation: 75.0 / 100, Busy: 6.0 / 8, Mean: 9, Median: 9, Max: 18}
	if r.Jobs != want.Jobs || r.NotStarted != 1 || r.Makespan != 25 || r.Utilisation != want.Utilisation ||
		r.Busy != want.Busy || r.Mean != 9 || r.Median != 9 || r.Max != 18 {
		t.Errorf("%+v, want %+v", r, want)
	}
	if s := (1 + 1.9 + 2.3) / 3; math.Abs(r.Slowdown-s) > 1e-9 {
		t.Errorf("slowdown %g, want %g", r.Slowdown, s)
	}
	total := 0
	for _, c := range r.Worst {
		total += c.Jobs
	}
	if total != 3 || r.Worst[0].Wait != 18 || r.Worst[len(r.Worst)-1].Wait != 9 {
		t.Errorf("worst by size: %+v", r.Worst)
	}
}

func TestIdle(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy policy.Kind
		jobs   []Record
		want   Idle
	}{
		{"fifo keeps it back", policy.FIFO, records(5, 20, 25, 10), Idle{Held: 8}},
		{"it would end before the first job's turn", policy.Easy, records(5, 20, 25, 10), Idle{Open: 8}},
		{"it would not", policy.Easy, records(50, 20, 25, 10), Idle{Held: 8}},
		{"the first job fits", policy.FIFO, records(5, 24, 30, 14), Idle{Held: 8, Open: 16}},
		{"the first job fits, and it matters", policy.Conservative, records(5, 24, 30, 14), Idle{Open: 8 + 16}},
		{"it started", policy.Easy, records(5, 2, 7, 10), Idle{}},
		{"conservative: held", policy.Conservative, records(50, 20, 25, 10), Idle{Held: 8}},
		{"it could run beside the reservation", policy.Easy, []Record{
			{ID: 1, Nodes: 3, Submit: 0, Start: 0, End: 10, Limit: 20},
			{ID: 2, Nodes: 2, Submit: 1, Start: 10, End: 20, Limit: 20},
			{ID: 3, Nodes: 1, Submit: 2, Start: 10, End: 40, Limit: 50},
		}, Idle{Choice: 8}},
	} {
		if got := Measure(c.jobs, Options{Nodes: 4, Policy: c.policy, Tau: 10}).Idle; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestProfile(t *testing.T) {
	p := &profile{times: []float64{0, 10, 20}, free: []int{1, 3, 4}}
	for _, c := range []struct {
		nodes int
		limit float64
		want  int
	}{{1, 100, 0}, {2, 5, 1}, {4, 5, 2}, {5, 1, -1}} {
		if got := p.earliest(c.nodes, c.limit); got != c.want {
			t.Errorf("%d nodes for %g: %d, want %d", c.nodes, c.limit, got, c.want)
		}
	}
	p.take(1, 3, 15) // now 1, 0, 1 and from 25 on 4
	for _, c := range []struct {
		nodes int
		limit float64
		want  int
	}{{1, 10, 0}, {1, 11, 2}, {2, 1, 3}, {4, 9, 3}} {
		if got := p.earliest(c.nodes, c.limit); got != c.want {
			t.Errorf("after a reservation, %d nodes for %g: %d, want %d", c.nodes, c.limit, got, c.want)
		}
	}
}
