// SPDX-License-Identifier: LGPL-3.0-or-later

// Package measure says how good a schedule is, from the times at which jobs
// were submitted, started and ended, whoever made it.
package measure

import (
	"cmp"
	"math"
	"slices"

	"flux-burrow/module/sched/policy"
)

// Record is what became of a job. It had whole nodes. Times are seconds.
type Record struct {
	ID     int64   `json:"id"`
	Nodes  int     `json:"nodes"`
	Submit float64 `json:"submit"`
	Start  float64 `json:"start"` // -1: it never had nodes
	End    float64 `json:"end"`   // when others could have its nodes
	Limit  float64 `json:"limit"` // of End-Start
}

// Options are what a schedule is measured by.
type Options struct {
	Nodes int
	// Policy is what the schedule keeps to; see Idle.
	Policy policy.Kind
	// Tau is the least run time in a slowdown.
	Tau float64
}

// Report is how good a schedule is. Times are seconds.
type Report struct {
	Jobs        int     `json:"jobs"`
	NotStarted  int     `json:"not_started"`
	Makespan    float64 `json:"makespan"`    // first submission to last end
	Utilisation float64 `json:"utilisation"` // over the makespan
	// Busy is the utilisation until the last submission: after that there is
	// less and less to choose from.
	Busy   float64 `json:"utilisation_arrivals"`
	Mean   float64 `json:"wait_mean"`
	Median float64 `json:"wait_median"`
	Max    float64 `json:"wait_max"`
	// Slowdown is the mean of (wait + run) / max(run, tau), 1 at least.
	Slowdown float64 `json:"bounded_slowdown"`
	Worst    []Class `json:"worst_by_size"`
	Idle     Idle    `json:"idle"`
}

// Class is of jobs up to a size.
type Class struct {
	Upto int     `json:"upto_nodes"`
	Jobs int     `json:"jobs"`
	Wait float64 `json:"wait_max"`
}

// Measure makes the report.
func Measure(records []Record, o Options) Report {
	r := Report{Jobs: len(records), Worst: classes(o.Nodes)}
	order := slices.Clone(records)
	slices.SortStableFunc(order, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
	started := slices.DeleteFunc(order, func(j Record) bool { return j.Start < 0 })
	r.NotStarted = r.Jobs - len(started)
	if len(started) == 0 {
		return r
	}
	begin, last, end := started[0].Submit, started[len(started)-1].Submit, 0.0
	for _, j := range started {
		end = math.Max(end, j.End)
	}
	waits := make([]float64, 0, len(started))
	work, early := 0.0, 0.0
	for _, j := range started {
		wait, run := j.Start-j.Submit, j.End-j.Start
		waits = append(waits, wait)
		work += float64(j.Nodes) * run
		early += float64(j.Nodes) * math.Max(0, math.Min(j.End, last)-math.Min(j.Start, last))
		r.Mean += wait
		r.Slowdown += math.Max(1, (wait+run)/math.Max(run, o.Tau))
		c := &r.Worst[slices.IndexFunc(r.Worst, func(c Class) bool { return j.Nodes <= c.Upto })]
		c.Jobs++
		c.Wait = math.Max(c.Wait, wait)
	}
	slices.Sort(waits)
	n := float64(len(started))
	r.Mean, r.Slowdown = r.Mean/n, r.Slowdown/n
	r.Median, r.Max = waits[len(waits)/2], waits[len(waits)-1]
	r.Makespan = end - begin
	r.Utilisation = work / (float64(o.Nodes) * r.Makespan)
	if last > begin {
		r.Busy = early / (float64(o.Nodes) * (last - begin))
	}
	r.Idle = idle(started, o)
	return r
}

// classes are one node, then up to these parts of the machine.
func classes(nodes int) []Class {
	list := []Class{{Upto: 1}}
	for _, part := range []int{16, 4, 2, 1} {
		if n := nodes / part; n > list[len(list)-1].Upto {
			list = append(list, Class{Upto: n})
		}
	}
	list[len(list)-1].Upto = math.MaxInt32
	if len(list) > 1 {
		list[len(list)-1].Upto = nodes
	}
	return list
}
