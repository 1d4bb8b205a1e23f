// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"errors"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/hooks/wire"
)

// errUnloaded answers what waits at the end: its node is one without an agent.
var errUnloaded = errors.New(wire.NotLoaded)

// step does the next thing that brings the services to what is wanted:
// first everything that goes down, in list order, then everything that goes
// up. One change at a time, and the needs are looked at anew after each, so
// that a change under way is never cut off and a later wish is not missed.
func (n *Node) step() {
	if n.busy || n.closed {
		return
	}
	if n.next != nil {
		n.ctl.Close()
		n.ctl, n.next = n.next, nil
	}
	if n.paused {
		return
	}
	if n.stale {
		n.look()
		return
	}
	for _, verb := range []control.Verb{control.Stop, control.Start} {
		for _, s := range n.services {
			if n.due(s, verb) {
				n.change(s, verb)
				return
			}
		}
	}
	n.settled()
}

// due tells whether verb is the next change of s.
func (n *Node) due(s *service, verb control.Verb) bool {
	if s.err != nil || s.state == control.Absent {
		return false
	}
	target, _ := n.target(s)
	return s.state != target && (target == control.Up) == (verb == control.Start)
}

// look asks for the state of all services.
func (n *Node) look() {
	n.stale = false
	n.busy = true
	var unknown []*service
	memory, _ := n.ctl.(control.Memory)
	for _, s := range n.services {
		if memory != nil {
			if state, known := memory.Remember(s.Unit); known {
				s.state = state
				continue
			}
		}
		unknown = append(unknown, s)
	}
	left := len(unknown)
	if left == 0 {
		n.busy = false
		n.step()
		return
	}
	for _, s := range unknown {
		n.ctl.State(s.Unit, func(state control.State, err error) {
			if n.closed {
				return
			}
			if err != nil {
				n.host.Log(logWarning, "%v", err)
			}
			s.state = state
			if left--; left == 0 {
				n.busy = false
				n.step()
			}
		})
	}
}

func (n *Node) change(s *service, verb control.Verb) {
	target, by := n.target(s)
	n.busy = true
	s.state = control.Unknown
	n.stats.Changes++
	start := n.host.Now()
	n.ctl.Do(control.Order{
		Verb:    verb,
		Unit:    s.Unit,
		Phase:   by.Phase.String(),
		JobID:   by.ID,
		Rank:    n.host.Rank(),
		Timeout: n.cfg.ServiceTimeout,
	}, func(err error) {
		if n.closed {
			return
		}
		n.busy = false
		switch {
		case err == nil:
			s.state = target
			n.host.Log(logDebug, "%s: %s for %s took %v", s.Unit, verb, by.Phase, n.host.Now().Sub(start))
		case errors.Is(err, control.ErrAbsent):
			s.state = control.Absent
		default:
			s.err = err
			s.state = control.Unknown
			n.stats.Failures++
			n.host.Log(logErr, "%v", err)
		}
		n.step()
	})
}

// settled answers the wishes: nothing is left to be done. What failed is
// tried again later, since a service is to reach what is wanted without an
// operator.
func (n *Node) settled() {
	waiters := n.waiters
	n.waiters = nil
	for _, w := range waiters {
		w.cancel()
		w.reply(n.judge(w))
	}
	failed := false
	for _, s := range n.services {
		failed = failed || s.err != nil
	}
	if !failed {
		n.retryIn = 0
		if n.cancelRetry != nil {
			n.cancelRetry()
			n.cancelRetry = nil
		}
		return
	}
	if n.cancelRetry != nil {
		return
	}
	n.retryIn = min(max(2*n.retryIn, retryFirst), retryMost)
	n.cancelRetry = n.host.After(n.retryIn, func() {
		n.cancelRetry = nil
		n.again()
		if n.cfg.Control.Method == config.Command {
			// A failed command leaves the state unknown.
			n.stale = true
		}
		n.step()
	})
}
