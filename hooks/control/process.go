// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// commandRun is one process from its start to its end or the end of patience.
type commandRun struct {
	proc Process
	// cancel stops the timer that is set.
	cancel func()
	// over says that nobody waits for the process any more.
	over bool
}

// noStatus is the wait status of a process that did not end by itself. It is
// neither an exit nor a death by signal.
const noStatus syscall.WaitStatus = 0x7f

// start runs the command of a verb. ended is called once: with the wait status
// and, where that is not 0, an error that says so; or with noStatus and an
// error where the process could not be started or ran out of time.
func (c *command) start(u *commandUnit, verb Verb, unit string, limit time.Duration,
	env map[string]string, ended func(syscall.WaitStatus, error)) {

	argv := expand(c.argv[verb], unit)
	env["BURROW_VERB"] = string(verb)
	env["BURROW_UNIT"] = unit
	if c.rank != nil {
		env["BURROW_RANK"] = strconv.FormatUint(uint64(*c.rank), 10)
	}
	r := &commandRun{}
	late := false
	end := func(status syscall.WaitStatus, err error) {
		if r.over || c.closed {
			return
		}
		r.over = true
		r.cancel()
		delete(u.procs, r)
		ended(status, err)
	}
	timedOut := func(last string) error {
		return fmt.Errorf("%s: timed out after %s%s", argv[0], limit, tail(last))
	}
	then := func(d time.Duration, f func()) {
		r.cancel = c.run.After(d, func() {
			if !r.over && !c.closed {
				f()
			}
		})
	}
	then(limit, func() {
		late = true
		r.proc.Kill(int(syscall.SIGTERM))
		then(killGrace, func() {
			r.proc.Kill(int(killSignal(argv)))
			then(giveUpAfter, func() {
				end(noStatus, errors.New(timedOut("").Error()+", and it did not end when killed"))
			})
		})
	})
	u.procs[r] = true
	r.proc = c.run.Run(argv, env, func(status int, last string, err error) {
		ws := syscall.WaitStatus(status)
		switch {
		case late:
			end(noStatus, timedOut(last))
		case err != nil:
			end(noStatus, fmt.Errorf("%s: could not be started: %w", argv[0], err))
		case ws == 0:
			end(ws, nil)
		case ws.Signaled():
			end(ws, fmt.Errorf("%s: killed by signal %d (%s)%s", argv[0], ws.Signal(), ws.Signal(), tail(last)))
		default:
			end(ws, fmt.Errorf("%s: exit status %d%s", argv[0], ws.ExitStatus(), tail(last)))
		}
	})
}

// killSignal is what ends a process for good. The IMP runs its program as root
// in a process group of its own, which a SIGKILL to the IMP would leave
// running with nobody to end it. RFC 15 has the IMP kill it on SIGUSR1.
func killSignal(argv []string) syscall.Signal {
	if path.Base(argv[0]) == "flux-imp" {
		return syscall.SIGUSR1
	}
	return syscall.SIGKILL
}

// tailMax limits what a reason takes from stderr, in bytes. Reasons end up in
// drain messages and logs.
const tailMax = 300

// tail is what a reason adds for the last line of stderr. Control characters
// do not get into logs.
func tail(last string) string {
	last = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, last))
	if last == "" {
		return ""
	}
	if len(last) > tailMax {
		last = strings.ToValidUTF8(last[:tailMax], "") + "..."
	}
	return ": " + last
}
