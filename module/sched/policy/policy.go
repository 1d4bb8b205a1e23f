// SPDX-License-Identifier: LGPL-3.0-or-later

// Package policy decides which of the waiting jobs start now, and plans when
// the others will.
//
// All policies look at the jobs in the order of the queue and start what fits
// and delays no reservation. They differ in what a job that does not fit means
// for those behind it:
//
//	fifo          it keeps back all jobs of its queue
//	easy          those behind it may start where they do not delay it
//	conservative  the same, and each of them has a reservation too
//
// A reservation is of what the job needs, from the earliest time at which it
// fits as running jobs reach their ends. How many jobs of a queue have one is
// [Depth]; with fifo it is the first, which keeps jobs of other queues from
// delaying it.
//
// A job that the nodes that are up could not satisfy, were they all free, is
// parked: it has no reservation and keeps back nobody.
//
// # Parts
//
//	profile   what is free on each node over time
//	search    the first time at which a request fits into it
//	Plan      reservations, kept from pass to pass
//	window    what is free from now until some time
//	Pass      one look at the queue, which may be made in several turns
//	forecast  estimates for jobs without a reservation
package policy

import (
	"fmt"
	"slices"
	"time"

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

var kindNames = [...]string{"fifo", "easy", "conservative"}

// Parse reads fifo, easy or conservative.
func Parse(s string) (Kind, error) {
	if i := slices.Index(kindNames[:], s); i >= 0 {
		return Kind(i), nil
	}
	return FIFO, fmt.Errorf("policy=%q is none of fifo, easy, conservative", s)
}

func (k Kind) String() string { return kindNames[k] }

// Limits of one pass.
const (
	maxStarts = 512                    // jobs started
	maxPlans  = 16384                  // reservations in all
	planLimit = 100 * time.Millisecond // of CPU, for reservations past the first few
	fewPlans  = 16
	maxRounds = 16 // passes in a row without an event from outside
)

// Rule is what holds for one queue.
type Rule struct {
	Kind  Kind
	Depth int // as Depth returns it
}

// Options are what a pass goes by.
type Options struct {
	// Rule gives the rule of a queue, "" being the one that has no name.
	Rule func(queue string) Rule
	// Rules say which nodes are given out whole; nil for none.
	Rules queue.Rules
	Order resource.Order
	// Now is the time in seconds since 1970.
	Now float64
	// Expiration is when the instance ends; 0 if it does not.
	Expiration float64
	// Clock tells how much time was spent; nil for a pass without limits.
	Clock func() time.Duration
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

// Result is what a pass did.
type Result struct {
	Started []Started
	Denied  []Denied
	// More is set if another pass should follow: this one stopped at a limit, or
	// changed what it had looked at before.
	More bool
}
