// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Method "command".
//
// Everything here happens on the reactor's thread: no goroutine, no lock. A
// unit's orders are a queue whose first one has a process running.

// Runner starts processes for [NewCommand], and keeps time for it.
type Runner interface {
	// Run starts argv with env added to the broker's environment. exited is
	// called once, on the reactor's thread, with the wait status of wait(2)
	// and the last non-empty line of stderr, trimmed; or with an error whose
	// text says why argv could not be started.
	Run(argv []string, env map[string]string,
		exited func(status int, lastStderr string, err error)) Process
	// After calls f on the reactor's thread after d. The function it returns
	// takes that back, and does nothing once f was called.
	After(d time.Duration, f func()) (cancel func())
}

// Process is one that a [Runner] started.
type Process interface {
	// Kill sends a signal to its whole process group. It does nothing once
	// the process has ended.
	Kill(sig int)
}

// Limits of a process beyond its order's own.
const (
	// killGrace is from SIGTERM to SIGKILL or what stands for it.
	killGrace = 5 * time.Second
	// giveUpAfter is from there to the end of the wait for the process.
	giveUpAfter = 2 * time.Second
	// statusTimeout is what the status command may take.
	statusTimeout = 10 * time.Second
)

// NewCommand returns a controller that runs a program per change. argv has the
// program and its arguments by verb; {{unit}} in them is replaced by the
// unit's name and {{service}} by its name without ".service". The program
// finds the same and more in its environment:
//
//	BURROW_VERB   start, stop or status
//	BURROW_UNIT   the unit's name
//	BURROW_RANK   the broker's rank
//	BURROW_PHASE  idle, mount, run or unmount
//	FLUX_JOB_ID   the job, in decimal; not set where there is none
//
// A status command that asks about no order has no phase and no job, and the
// rank only once there was an order.
//
// An exit status other than 0, a signal and a timeout are failures, with the
// last line of stderr in the reason. After its timeout a process gets SIGTERM,
// 5 s later SIGKILL (SIGUSR1 if it is flux-imp, see flux-imp(8)); 2 s after that
// its end is not waited for any more.
//
// State runs the status command: exit status 0 is [Up], 4 is [Absent], others
// are [Down], as systemctl(1) has them. One that ends by a signal, runs out of
// time or can't be run (126, 127) tells nothing: [Unknown] and an error.
// Without a status command State is what the last order left, and [Unknown]
// before the first and after a failed one. A failed order is [ErrAbsent] only
// where the status command then says 4: what a start or stop command exits
// with is its own.
func NewCommand(run Runner, argv map[Verb][]string) Controller {
	return &command{run: run, argv: argv, units: map[string]*commandUnit{}}
}

type command struct {
	run   Runner
	argv  map[Verb][]string
	units map[string]*commandUnit
	// rank is the broker's, from the first order on.
	rank   *uint32
	closed bool
}

// commandUnit is what is known and under way of one unit.
type commandUnit struct {
	queue []pending
	// left is what the last order left the unit as.
	left State
	// asking has whom to tell the status command's answer; nil: none runs.
	asking []func(State, error)
	// stale says that an order began since the status command did.
	stale bool
	// procs are the processes under way, an order's and a status command's.
	procs map[*commandRun]bool
}

func (c *command) unit(name string) *commandUnit {
	u := c.units[name]
	if u == nil {
		u = &commandUnit{procs: map[*commandRun]bool{}}
		c.units[name] = u
	}
	return u
}

func (c *command) Do(o Order, done func(error)) {
	if c.closed {
		return
	}
	c.rank = &o.Rank
	u := c.unit(o.Unit)
	u.queue = append(u.queue, pending{o, done})
	if len(u.queue) == 1 {
		// Not at once: done must not be called from in here, whatever a
		// Runner does when a program can't be started.
		c.later(func() { c.begin(u) })
	}
}

// later calls f on the reactor's next round.
func (c *command) later(f func()) {
	c.run.After(0, func() {
		if !c.closed {
			f()
		}
	})
}

// begin runs the process of the unit's first order.
func (c *command) begin(u *commandUnit) {
	o := u.queue[0].order
	u.stale = true
	if err := o.check(); err != nil {
		c.finish(u, err)
		return
	}
	if len(c.argv[o.Verb]) == 0 {
		c.finish(u, o.failed(fmt.Errorf("no command for it: set %s in [burrow.control]", o.Verb)))
		return
	}
	env := map[string]string{"BURROW_PHASE": o.Phase}
	if o.JobID != 0 {
		env["FLUX_JOB_ID"] = fmt.Sprint(o.JobID)
	}
	c.start(u, o.Verb, o.Unit, o.Timeout, env, func(status syscall.WaitStatus, err error) {
		if err != nil && status.Exited() {
			c.failed(u, o, err)
			return
		}
		c.finish(u, o.failed(err))
	})
}

// failed looks whether an order failed because there is no such unit.
func (c *command) failed(u *commandUnit, o Order, err error) {
	if len(c.argv[Status]) == 0 {
		c.finish(u, o.failed(err))
		return
	}
	env := map[string]string{"BURROW_PHASE": o.Phase}
	c.start(u, Status, o.Unit, statusTimeout, env, func(status syscall.WaitStatus, _ error) {
		if status.Exited() && status.ExitStatus() == statusAbsent {
			err = ErrAbsent
		}
		c.finish(u, o.failed(err))
	})
}

// finish ends the unit's first order and begins the next.
func (c *command) finish(u *commandUnit, err error) {
	p := u.queue[0]
	u.queue = u.queue[1:]
	switch {
	case err == ErrAbsent:
		u.left = Absent
	case err != nil:
		u.left = Unknown
	case p.order.Verb == Start:
		u.left = Up
	default:
		u.left = Down
	}
	more := len(u.queue) > 0
	p.done(err)
	if more {
		// done may have closed the controller; later looks.
		c.later(func() { c.begin(u) })
	}
}

func (c *command) Close() {
	if c.closed {
		return
	}
	c.closed = true
	for _, u := range c.units {
		for r := range u.procs {
			r.cancel()
			if r.proc != nil {
				r.proc.Kill(int(syscall.SIGTERM))
			}
		}
	}
}

// expand replaces the placeholders in a command.
func expand(argv []string, unit string) []string {
	r := strings.NewReplacer("{{unit}}", unit, "{{service}}", strings.TrimSuffix(unit, ".service"))
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = r.Replace(arg)
	}
	return out
}
