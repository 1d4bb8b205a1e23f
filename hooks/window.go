// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import "fmt"

// State is where a job's window stands.
type State uint8

// The states. Those of a rabbit job go through mount, run and unmount; those
// of another job exist only where its nodes' services are not as run wants
// them.
const (
	// Over: the window has ended, or there was none.
	Over State = iota
	// Reading: after a restart, until the job's eventlog is read.
	Reading
	// Mounting: services go up, dws_environment is awaited. Prolog held.
	Mounting
	// Stopping: services go down. Prolog held.
	Stopping
	// Running: nothing is held.
	Running
	// Ending: the job got an exception while its tasks run; they are being
	// ended, and the services stay down until they are. Epilog held.
	Ending
	// Unmounting: services are up, the end of dws-epilog is awaited. Epilog held.
	Unmounting
	// Idling: services go to idle. Epilog held.
	Idling
	// OtherStopping: as Stopping, of a job without a rabbit.
	OtherStopping
	// OtherRunning: as Running.
	OtherRunning
	// OtherIdling: services go to idle, nothing is held.
	OtherIdling

	states
)

var stateNames = [states]string{"over", "reading", "mounting", "stopping", "running", "ending",
	"unmounting", "idling", "other-stopping", "other-running", "other-idling"}

func (s State) String() string {
	if s < states {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Event is what happens to a window.
type Event uint8

// The events.
const (
	// Ready: the services are as the last wish asked, or near enough by policy.
	Ready Event = iota
	// Failed: more nodes failed than the policy tolerates.
	Failed
	// Environment: dws_environment was posted.
	Environment
	// Late: environment-timeout is over.
	Late
	// Cleanup: the job is in CLEANUP, and has no tasks that run.
	Cleanup
	// Killed: the job is in CLEANUP by an exception, and its tasks may run.
	Killed
	// Unmounted: dws-epilog has ended well, or will not begin.
	Unmounted
	// GivenUp: dws-epilog ended with a status other than 0.
	GivenUp

	events
)

var eventNames = [events]string{"ready", "failed", "environment", "late", "cleanup", "killed",
	"unmounted", "given-up"}

func (e Event) String() string {
	if e < events {
		return eventNames[e]
	}
	return fmt.Sprintf("event %d", uint8(e))
}

// Effect is what is to be done on a transition. The table only names effects;
// doing them is the business of Hooks.
type Effect uint8

// The effects.
const (
	HoldProlog Effect = iota
	// FreeProlog ends the hold with status 0, FailProlog with 1.
	FreeProlog
	FailProlog
	HoldEpilog
	FreeEpilog
	// WishMount and so on ask the job's nodes for a phase.
	WishMount
	WishRun
	WishUnmount
	WishIdle
	// StartTimer starts environment-timeout.
	StartTimer
	StopTimer
	// RaiseTimeout and RaiseFailed raise an exception on the job.
	RaiseTimeout
	RaiseFailed
	// Settle finds out, once all plugins have seen the event that ended the
	// job, whether there is a dws-epilog to wait for.
	Settle
	// Keep leaves the services up after an unmount that was given up.
	Keep

	effects
)

var effectNames = [effects]string{"hold-prolog", "free-prolog", "fail-prolog", "hold-epilog",
	"free-epilog", "wish-mount", "wish-run", "wish-unmount", "wish-idle", "start-timer",
	"stop-timer", "raise-timeout", "raise-failed", "settle", "keep"}

func (e Effect) String() string {
	if e < effects {
		return effectNames[e]
	}
	return fmt.Sprintf("effect %d", uint8(e))
}

type transition struct {
	next    State
	effects []Effect
}

// The start of a window, at job.state.run.
var (
	startRabbit = transition{Mounting, []Effect{HoldProlog, StartTimer, WishMount}}
	startOther  = transition{OtherStopping, []Effect{HoldProlog, WishRun}}
)

// transitions says what follows from an event in a state. What is not in the
// table is refused: the event changes nothing.
var transitions = map[State]map[Event]transition{
	Mounting: {
		Ready:       {Mounting, nil},
		Failed:      {Mounting, []Effect{RaiseFailed}},
		Environment: {Stopping, []Effect{StopTimer, WishRun}},
		Late:        {Mounting, []Effect{RaiseTimeout}},
		// The epilog is held before the prolog is let go: the job manager
		// counts both in one, and moves on when it is 0.
		Cleanup: {Unmounting, []Effect{StopTimer, HoldEpilog, FailProlog, WishUnmount, Settle}},
	},
	Stopping: {
		Ready:   {Running, []Effect{FreeProlog}},
		Failed:  {Stopping, []Effect{RaiseFailed}},
		Cleanup: {Unmounting, []Effect{HoldEpilog, FailProlog, WishUnmount, Settle}},
	},
	Running: {
		Ready:   {Running, nil},
		Failed:  {Running, nil},
		Cleanup: {Unmounting, []Effect{HoldEpilog, WishUnmount, Settle}},
		Killed:  {Ending, []Effect{HoldEpilog}},
	},
	Ending: {
		Ready:   {Ending, nil},
		Failed:  {Ending, nil},
		Cleanup: {Unmounting, []Effect{WishUnmount, Settle}},
	},
	Unmounting: {
		Ready:     {Unmounting, nil},
		Failed:    {Unmounting, nil},
		Unmounted: {Idling, []Effect{WishIdle}},
		GivenUp:   {Over, []Effect{Keep, FreeEpilog}},
	},
	Idling: {
		Ready:  {Over, []Effect{FreeEpilog}},
		Failed: {Over, []Effect{FreeEpilog}},
	},
	OtherStopping: {
		Ready:   {OtherRunning, []Effect{FreeProlog}},
		Failed:  {OtherStopping, []Effect{RaiseFailed}},
		Cleanup: {OtherIdling, []Effect{FailProlog, WishIdle}},
	},
	OtherRunning: {
		Ready:   {OtherRunning, nil},
		Failed:  {OtherRunning, nil},
		Killed:  {OtherRunning, nil},
		Cleanup: {OtherIdling, []Effect{WishIdle}},
	},
	OtherIdling: {
		Ready:  {Over, nil},
		Failed: {Over, nil},
	},
}

// Next looks up what follows from an event; ok is false where it is refused.
func Next(s State, e Event) (next State, do []Effect, ok bool) {
	t, ok := transitions[s][e]
	if !ok {
		return s, nil, false
	}
	return t.next, t.effects, true
}
