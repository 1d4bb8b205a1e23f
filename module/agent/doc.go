// SPDX-License-Identifier: LGPL-3.0-or-later

// Package agent is the part of burrow that runs on every rank: it brings its
// node's services to what the jobs there need, and hands requests on along
// the overlay tree.
//
// A [Node] knows what each job on it needs (a phase, with a generation), and
// from that what each service is to be: up while any job needs it up. It
// makes one change at a time and looks at the needs anew after each. A [Tree]
// is the part of the overlay below a rank, and a [Spread] one request on its
// way down and its answers on their way up. An [Agent] is the service made of
// both.
//
// All is called on the reactor's thread, and nothing blocks: the outside is a
// [Host] and a [control.Controller], which call back.
package agent

import "time"

// Host is what an agent needs of its broker. Callbacks come on the reactor's
// thread, never from inside the call.
type Host interface {
	// Rank is this broker's rank.
	Rank() uint32
	// Call sends a request to a rank. done is called once: with the answer,
	// the service's error, or ETIMEDOUT after limit.
	Call(rank uint32, topic, payload string, limit time.Duration, done func(payload string, err error))
	// After calls fn after d, unless cancelled before.
	After(d time.Duration, fn func()) (cancel func())
	// Now is the time of this turn of the reactor.
	Now() time.Time
	// Log writes a line to the broker's log at a level of syslog(3).
	Log(level int, format string, args ...any)
}

// Levels of syslog(3) that the agent logs at.
const (
	logErr     = 3
	logWarning = 4
	logInfo    = 6
	logDebug   = 7
)
