// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"fmt"
	"syscall"
)

// Exit statuses of a status command that mean more than yes or no; see
// systemctl(1) for the first and the shell for the others.
const (
	statusAbsent    = 4
	statusCannotRun = 126
	statusNotFound  = 127
)

func (c *command) State(unit string, done func(State, error)) {
	if c.closed {
		return
	}
	u := c.unit(unit)
	switch {
	case len(u.queue) > 0:
		c.later(func() { done(Unknown, nil) })
	case len(c.argv[Status]) == 0:
		left := u.left
		c.later(func() { done(left, nil) })
	default:
		u.asking = append(u.asking, done)
		if len(u.asking) == 1 {
			u.stale = false
			c.later(func() { c.ask(unit, u) })
		}
	}
}

// ask runs the status command for all who ask now or until it ends.
func (c *command) ask(unit string, u *commandUnit) {
	c.start(u, Status, unit, statusTimeout, map[string]string{}, func(ws syscall.WaitStatus, err error) {
		state, err := statusState(ws, err)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", Status, unit, err)
		}
		if u.stale {
			state, err = Unknown, nil
		}
		asked := u.asking
		u.asking = nil
		for _, done := range asked {
			if c.closed {
				return
			}
			done(state, err)
		}
	})
}

// statusState reads a state from how the status command ended.
func statusState(ws syscall.WaitStatus, err error) (State, error) {
	if !ws.Exited() {
		return Unknown, err
	}
	switch ws.ExitStatus() {
	case 0:
		return Up, nil
	case statusAbsent:
		return Absent, nil
	case statusCannotRun, statusNotFound:
		return Unknown, err
	}
	return Down, nil
}
