// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import "time"

// Host is what the engine needs of its surroundings. All callbacks are called
// later, never from within the call that takes them, on the engine's thread.
// An error carries an errno that errors.As finds as a syscall.Errno.
type Host interface {
	// Now gives the time in seconds since 1970.
	Now() float64
	// Log writes one line; level is one of syslog(3), 3 (error) to 7 (debug).
	Log(level Level, text string)
	// Call sends a request and gives the response to done.
	Call(topic, payload string, done func(payload string, err error))
	// Stream sends a request for many responses. each is called for every
	// response until one is an error; ENODATA is the regular end (RFC 6).
	Stream(topic, payload string, each func(payload string, err error))
	// Lookup reads a key of the primary KVS namespace. ENOENT: there is none.
	Lookup(key string, done func(value string, err error))
	// Commit writes keys in one transaction.
	Commit(entries []Entry, done func(err error))
	// After calls f once, after d. The timer may be stopped more than once.
	After(d time.Duration, f func()) Timer
	// Stop ends the module: err is nil for an orderly end.
	Stop(err error)
}

// Timer is a call that is to come.
type Timer interface{ Stop() }

// Entry is a key and its new value, as a JSON text.
type Entry struct{ Key, Value string }

// Request is a request that was received. It is good until the handler
// returns; Keep gives one that is good until its Release.
type Request interface {
	Keep() Request
	Release()
	Respond(payload string) error
	RespondError(err error) error
}

// Level is a log level of syslog(3).
type Level int

// The levels that are used.
const (
	Err     Level = 3
	Warning Level = 4
	Info    Level = 6
	Debug   Level = 7
)

var levelNames = map[Level]string{Err: "err", Warning: "warning", Info: "info", Debug: "debug"}

func (l Level) String() string { return levelNames[l] }
