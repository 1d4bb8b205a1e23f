// SPDX-License-Identifier: LGPL-3.0-or-later

// Package control brings one node's services up and down.
//
// The agent, a Flux broker module, owns one [Controller] and talks to it from
// its reactor's thread only. Two controllers exist: [NewSystemd] speaks D-Bus
// to the system's service manager, [NewCommand] runs a program per change.
// Neither ever blocks the reactor, and neither starts a process by itself or
// touches a signal: the broker reaps every child of its process, and its
// SIGCHLD must not be disturbed.
//
// Both keep the same order: at most one change of a unit is under way at a
// time, and the orders for one unit are carried out in the order they were
// given. Different units do not wait for each other.
package control

import (
	"errors"
	"time"
)

// Verb is what is asked of a unit.
type Verb string

// The verbs. Start and Stop are orders, Status is what [NewCommand] is given
// an argv for.
const (
	Start  Verb = "start"
	Stop   Verb = "stop"
	Status Verb = "status"
)

// State is what a unit is now.
type State int

const (
	// Unknown: nothing is known yet, or the unit is on its way up or down.
	Unknown State = iota
	// Down: not running, whether stopped or failed.
	Down
	// Up: running.
	Up
	// Absent: this node has no such unit.
	Absent
)

// String names a state as `flux burrow status` shows it.
func (s State) String() string {
	switch s {
	case Down:
		return "down"
	case Up:
		return "up"
	case Absent:
		return "absent"
	}
	return "unknown"
}

// Order is one change of one unit on this node.
type Order struct {
	// Verb is Start or Stop.
	Verb Verb
	// Unit is the full name of a unit, suffix included.
	Unit string
	// Phase is the job window that asks: idle, mount, run or unmount.
	Phase string
	// JobID is the job that asks, 0 for none.
	JobID uint64
	// Rank is this broker's rank.
	Rank uint32
	// Timeout limits this change, counted from the moment it begins (an order
	// that waits for an earlier one of its unit has not begun). It is above 0.
	Timeout time.Duration
}

// Controller carries out orders.
//
// All methods are called on the reactor's thread, and every done is called on
// the reactor's thread, exactly once, never from inside the call that took it.
type Controller interface {
	// Do brings a unit up or down. A unit that is already as wanted is a
	// success. done gets nil, [ErrAbsent] where the node has no such unit, or
	// an error that names unit, verb and reason.
	Do(o Order, done func(error))

	// State tells what a unit is now. A unit that is being changed is
	// [Unknown].
	State(unit string, done func(State, error))

	// Close gives up what is in progress. It does not wait, and may be called
	// twice. No done is called once Close was called: the caller that closes
	// its controller has nobody left to tell. Do and State on a closed
	// controller do nothing, and their done is not called either.
	Close()
}

// Memory is a Controller that may know what a unit is without asking.
type Memory interface {
	// Remember gives the state of a unit, and whether it is known. It answers at
	// once, on the reactor's thread.
	Remember(unit string) (State, bool)
}

var (
	// ErrAbsent says that this node has no such unit. The service is skipped
	// here; it is no failure. Test with errors.Is.
	ErrAbsent = errors.New("no such unit on this node")

	// ErrClosed is what is left of an order whose controller was closed under
	// it. No done ever gets it from the two controllers here, since none is
	// called after Close; it is there for other implementations.
	ErrClosed = errors.New("service control was closed")
)
