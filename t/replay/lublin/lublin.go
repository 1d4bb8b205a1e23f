// SPDX-License-Identifier: LGPL-3.0-or-later

// Package lublin makes workloads by the model of Uri Lublin and Dror Feitelson,
// "The workload on parallel supercomputers: modeling the characteristics of
// rigid jobs", J. Parallel and Distributed Computing 63(11), 2003: its batch
// jobs, with the parameters published there.
//
//	size      serial, else two raised to a two-stage uniform; most are made
//	          powers of two
//	run time  e raised to a mix of two gammas; large jobs are more often of the
//	          longer one
//	arrival   gaps of e raised to a gamma, stretched by the time of day
//
// The model has no time limits. A job's limit here is its run time times a
// number that is uniform from 1 to [Slack], in whole minutes: limits that are
// exact make backfilling better than it is.
package lublin

import (
	"fmt"
	"math"
	"math/rand/v2"

	"flux-burrow/t/replay/swf"
)

// The parameters of batch jobs, as the authors publish them with their program,
// m_lublin99.c, for a machine of 128 nodes.
const (
	serial = 0.2927 // share of jobs of one processor
	power2 = 0.6686 // share of jobs with a power of two above 1

	sizeLow   = 1.2   // log2 of the smallest parallel job, less to give it its share
	sizeBend  = 2.0   // the two stages meet so far below log2 of the machine
	sizeFirst = 0.875 // share of the first stage

	runA1, runB1 = 6.57, 0.823
	runA2, runB2 = 639.1, 0.0156
	runSlope     = -0.003 // share of the first gamma: runSlope*size + runBase
	runBase      = 0.6986
	runMax       = 12.0 // e^12 s is 45 hours

	gapA, gapB = 6.0415 * 1.0519, 0.8531 // rush hours, times the ratio of all hours
	gapMax     = 13.0

	dayA, dayB = 6.1271, 5.2740 // jobs by half hour of the day
	dayStart   = 11             // half hour at which the day of that gamma begins
	halfHours  = 48
	halfHour   = 1800.0
)

// Slack is how many times its run time a job's limit is at most.
const Slack = 5

// Options say what to make.
type Options struct {
	Nodes int
	Jobs  int
	// Load is the work that arrives by what the machine can do until the last
	// arrival: the gaps are stretched for it. 0: as the model has it.
	Load float64
	Seed uint64
}

// Generate makes a workload. A node is one processor of the model.
func Generate(o Options) (*swf.Workload, error) {
	if o.Nodes < 1 || o.Jobs < 1 || o.Load < 0 || math.IsNaN(o.Load) || math.IsInf(o.Load, 0) {
		return nil, fmt.Errorf("%d nodes, %d jobs, load %g: one of them is no use", o.Nodes, o.Jobs, o.Load)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x6c75626c696e))
	jobs := make([]swf.Job, o.Jobs)
	gaps := make([]float64, o.Jobs)
	work, sum := 0.0, 0.0
	for i := range jobs {
		sum += math.Exp(below(gapMax, func() float64 { return gamma(rng, gapA, gapB) }))
		gaps[i] = sum
		n := size(rng, o.Nodes)
		run := math.Max(1, math.Floor(runTime(rng, n)))
		limit := 60 * math.Ceil(run*(1+(Slack-1)*rng.Float64())/60)
		j := swf.NewJob()
		j.ID, j.Procs, j.ReqProcs, j.Run, j.ReqTime, j.Status = int64(i+1), int64(n), int64(n), run, limit, 1
		jobs[i] = j
		work += float64(n) * run
	}
	d := newDay()
	factor := 1.0
	if o.Load > 0 {
		factor = d.weighted(work/(float64(o.Nodes)*o.Load)) / sum
	}
	for i := range jobs {
		jobs[i].Submit = math.Floor(d.clock(gaps[i] * factor))
	}
	return &swf.Workload{Jobs: jobs, Header: []string{
		"Version: 2.2",
		fmt.Sprintf("Computer: made, Lublin and Feitelson 2003, batch jobs, seed %d, load %g", o.Seed, o.Load),
		fmt.Sprintf("MaxJobs: %d", o.Jobs),
		fmt.Sprintf("MaxNodes: %d", o.Nodes),
		fmt.Sprintf("MaxProcs: %d", o.Nodes),
	}}, nil
}

// size draws a number of processors.
func size(rng *rand.Rand, nodes int) int {
	u := rng.Float64()
	if u <= serial || nodes == 1 {
		return 1
	}
	high := math.Log2(float64(nodes))
	low := math.Min(sizeLow, high)
	bend := math.Max(high-sizeBend, low)
	from, to := low, bend
	if rng.Float64() > sizeFirst {
		from, to = bend, high
	}
	log := from + rng.Float64()*(to-from)
	if u <= serial+power2 {
		log = math.Round(log)
	}
	return min(nodes, int(math.Round(math.Exp2(log))))
}

// runTime draws the seconds that a job of a size runs.
func runTime(rng *rand.Rand, size int) float64 {
	share := min(1, max(0, runSlope*float64(size)+runBase))
	return math.Exp(below(runMax, func() float64 {
		if rng.Float64() <= share {
			return gamma(rng, runA1, runB1)
		}
		return gamma(rng, runA2, runB2)
	}))
}
