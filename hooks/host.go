// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"time"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// Host is what the hooks need of the job manager and of the instance.
// Callbacks come on the reactor's thread, never from inside the call.
type Host interface {
	// HoldProlog and HoldEpilog take a hold on a job. With current set, the
	// job is that of the callback that runs.
	HoldProlog(id uint64, description string, current bool) error
	HoldEpilog(id uint64, description string, current bool) error
	// FreeProlog and FreeEpilog end one hold.
	FreeProlog(id uint64, description string, status int) error
	FreeEpilog(id uint64, description string, status int) error
	// Raise raises an exception; severity 0 ends the job.
	Raise(id uint64, kind string, severity int, note string) error
	// Subscribe asks for the events of a job, once.
	Subscribe(id uint64) error

	// Set asks ranks for a phase. done is called once, in bounded time.
	Set(req wire.SetRequest, done func(wire.SetResponse))
	// Drain takes ranks out of scheduling.
	Drain(ranks *idset.Set, reason string)
	// Eventlog reads a job's eventlog from the KVS. done is called once.
	Eventlog(id uint64, done func(text string, err error))
	// Executing asks the exec service for the jobs that it has: whose tasks may
	// run. done is called once. Where there is no exec service there are none.
	Executing(done func(ids map[uint64]bool, err error))
	// Load and Store read and write a value in the KVS; a missing one is "".
	Load(key string, done func(value string, err error))
	Store(key, value string)
	// Size is the number of ranks.
	Size() uint32

	// After calls fn after d, unless cancelled before.
	After(d time.Duration, fn func()) (cancel func())
	// Now is the time of this turn of the reactor.
	Now() time.Time
	// Log writes a line to the broker's log at a level of syslog(3).
	Log(level int, format string, args ...any)
}

const (
	logErr     = 3
	logWarning = 4
	logInfo    = 6
	logDebug   = 7
)

// Names that others see, and names of others' that the hooks look for.
const (
	prologName       = "burrow-prolog"
	epilogName       = "burrow-epilog"
	timeoutException = "burrow-timeout"
	failedException  = "burrow-services"
	dwsSetup         = "dws-setup"
	dwsEpilog        = "dws-epilog"
	environmentEvent = "dws_environment"
	keptKey          = "burrow.kept"
)

// Job states (RFC 21).
const (
	stateRun     = 16
	stateCleanup = 32
)
