// SPDX-License-Identifier: LGPL-3.0-or-later

// Package policy decides which of the waiting jobs start now.
//
// All policies look at the jobs in the order of the queue and start what fits.
// They differ in what a job that does not fit means for those behind it:
//
//	fifo          it keeps back all jobs of its queue, and keeps jobs of other
//	              queues off the nodes it could run on
//	easy          the first of each queue that does not fit gets a reservation,
//	              the others may start where they do not delay it
//	conservative  every job that does not fit gets a reservation, up to a limit
//
// A reservation is of whole nodes, from the earliest time at which the job will
// fit as running jobs reach their expirations. Where that time can't be told,
// as jobs without a time limit are in the way, the job keeps others off the
// nodes it could run on, as with fifo.
package policy

import (
	"fmt"

	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// Kind is a policy.
type Kind int

// The policies of the module argument policy=.
const (
	FIFO Kind = iota
	Easy
	Conservative
)

var kinds = map[string]Kind{"fifo": FIFO, "easy": Easy, "conservative": Conservative}

// Parse reads fifo, easy or conservative.
func Parse(s string) (Kind, error) {
	k, ok := kinds[s]
	if !ok {
		return FIFO, fmt.Errorf("policy=%q is none of fifo, easy, conservative", s)
	}
	return k, nil
}

func (k Kind) String() string {
	for name, v := range kinds {
		if v == k {
			return name
		}
	}
	return "?"
}

// reservations per queue.
var depths = map[Kind]int{FIFO: 0, Easy: 1, Conservative: 64}

// Limits of one pass, which keep the reactor alive.
const (
	maxStarts = 512  // jobs started
	maxLooks  = 4096 // jobs looked at
	maxPlans  = 128  // reservations in all
)

// MaxReasons is how many of the jobs that wait are told why, from the front.
const MaxReasons = 16

// Options are what a pass goes by.
type Options struct {
	Kind  Kind
	Order resource.Order
	// Now is the time in seconds since 1970.
	Now float64
	// Expiration is when the instance ends; 0 if it does not.
	Expiration float64
	// Forecast asks why jobs wait, and for an estimate of their start where the
	// policy makes none itself.
	Forecast bool
}

// Started is a job that was booked.
type Started struct {
	Job   *queue.Job
	Alloc *resource.Alloc
	// Around is the job that this one went ahead of; nil if it was its turn.
	Around *queue.Job
}

// Denied is a job that can't ever be satisfied.
type Denied struct {
	Job    *queue.Job
	Reason error
}

// Waiting is a job that was looked at and did not fit.
type Waiting struct {
	Job *queue.Job
	// Reason is in words; "" if no forecast was asked for, and for jobs behind
	// the first MaxReasons.
	Reason string
	// Estimate is when it starts at the latest, if running jobs use up their
	// time, in seconds since 1970; 0 if that is not known.
	Estimate float64
}

// Result is what a pass did.
type Result struct {
	Started []Started
	Denied  []Denied
	Waiting []Waiting
	// More is set if the pass stopped at a limit, and another should follow.
	More bool
}
