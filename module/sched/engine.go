// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/reserve"
	"flux-burrow/module/sched/resource"
)

// Phase is how far the engine is.
type Phase int

// The phases, in order.
const (
	Idle Phase = iota
	Acquire
	Hello
	Read
	Locate
	Announce
	Ready
	Stopped
)

var phaseNames = [...]string{"idle", "acquire", "hello", "read", "locate", "announce", "ready", "stopped"}

func (p Phase) String() string { return phaseNames[p] }

// Engine is a scheduler. It is used by one thread.
type Engine struct {
	host   Host
	config Config
	phase  Phase
	born   float64 // when it was started, seconds since 1970

	pool       *resource.Pool
	scribe     scribe
	expiration float64 // of the instance, seconds since 1970; 0 for none
	queue      queue.Queue
	asks       map[jobid.ID]*ask // open alloc requests, those that are being committed too

	reservations reserve.Book
	reserving    reserving

	early    []earlyCheck // feasibility requests from before the inventory
	statsFor []waitingStats

	recovery *recovery
	again    *secondHello

	plan       *policy.Plan
	passing    *policy.Pass // under way, over several turns
	fresh      []*queue.Job // came since the last pass
	inbox      []func()     // came while a pass was under way
	inboxTimer Timer

	timer      Timer // of the next pass
	slow       Timer // of the next round of annotations
	wake       Timer // when something begins or ends by itself
	committing bool  // a transaction is on its way: the next pass waits for it
	wanted     bool  // a pass was asked for meanwhile
	retry      bool  // the next pass waits, as the last transaction failed
	noteAt     int   // where in the queue annotations go on
	quiet      bool  // there was no news since annotations were at the front
	forecastAt float64
	drained    drained

	stats stats
}

// New makes an engine; Start sets it going.
func New(host Host, config Config) *Engine {
	return &Engine{host: host, config: config, asks: map[jobid.ID]*ask{}, stats: newStats()}
}

// Phase returns how far the engine is.
func (e *Engine) Phase() Phase { return e.phase }

// Start asks for the instance's resources; all else follows from the answer.
func (e *Engine) Start() {
	if e.phase != Idle {
		return
	}
	e.born = e.host.Now()
	e.enter(Acquire)
	e.host.Stream("resource.acquire", "", e.onAcquire)
}

// Stop ends the engine in good order. What it had open is the job manager's to
// ask for again: jobs that wait are sent to the next scheduler, and the R of a
// job that was not yet reported is written anew.
func (e *Engine) Stop() {
	if e.phase == Stopped {
		return
	}
	if e.pool != nil {
		e.log(Debug, "stopping with %d jobs allocated, %d waiting", e.pool.Jobs(), e.queue.Len())
	}
	e.enter(Stopped)
	for _, t := range []*Timer{&e.timer, &e.slow, &e.wake, &e.inboxTimer} {
		stopTimer(t)
	}
	for _, a := range e.asks {
		a.request.Release()
	}
	e.asks, e.passing = map[jobid.ID]*ask{}, nil
	for _, f := range e.inbox { // they release what they keep
		f()
	}
	e.inbox = nil
	for _, c := range e.early {
		c.request.Release()
	}
	e.early = nil
	e.dropStats()
	e.stopReserving()
}

// fail ends the module: without this the scheduler is of no use.
func (e *Engine) fail(what string, err error) {
	if e.phase == Stopped {
		return
	}
	err = fmt.Errorf("%s: %w", what, err)
	e.log(Err, "stopping: %s", err)
	e.Stop()
	e.host.Stop(err)
}

func (e *Engine) enter(p Phase) {
	e.stats.enter(e.phase, p, time.Now())
	e.phase = p
}

func (e *Engine) log(level Level, format string, args ...any) {
	if level <= e.config.LogLevel {
		e.host.Log(level, fmt.Sprintf(format, args...))
	}
}

func errnoIs(err error, num syscall.Errno) bool { return errors.Is(err, num) }

// coded gives a text an errno for RespondError.
type coded struct {
	num  syscall.Errno
	text string
}

func (c coded) Error() string { return c.text }
func (c coded) Unwrap() error { return c.num }
