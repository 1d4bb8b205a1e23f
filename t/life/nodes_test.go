// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"flux-burrow/t/embed"
)

// nodes are the services of all ranks: they live on whatever happens to
// brokers and agents, as units of systemd do.
type nodes struct {
	w  *world
	up map[place]bool
	// starting are start commands under way.
	starting map[place]int
	faults   map[fault]mishap
	procs    int
}

// place is a unit on a rank.
type place struct {
	rank int
	unit string
}

type fault struct {
	place
	verb string
}

// units are all that configurations have.
var units = []string{theUnit, "nnf-dm.service", "jitter.service"}

// mishap is how a command misbehaves.
type mishap int

const (
	fine mishap = iota
	fails
	failsLate // it fails, but what it was to do is done
	hangs     // until it is killed
	hangsHard // and not by SIGTERM
	slow
	mishaps
)

var mishapNames = [...]string{"fine", "fails", "fails-late", "hangs", "hangs-hard", "slow"}

func (m mishap) String() string { return mishapNames[m] }

func newNodes(w *world) *nodes {
	n := &nodes{w: w, up: map[place]bool{}, starting: map[place]int{}, faults: map[fault]mishap{}}
	return n
}

// refusal is the line that a failing command leaves on stderr.
func refusal(f fault) string {
	return fmt.Sprintf("svc: no %s of %s on rank %d", f.verb, f.unit, f.rank)
}

// set makes a command misbehave, or heals it.
func (n *nodes) set(f fault, m mishap) {
	if m == fine {
		delete(n.faults, f)
		return
	}
	n.faults[f] = m
	switch m {
	case fails, failsLate:
		n.w.blame(f.rank, refusal(f))
	case hangs, hangsHard:
		n.w.blame(f.rank, f.unit+": svc: timed out", f.unit+": is ")
		// Changes are made one at a time, so that others wait for it.
		for _, unit := range units {
			n.w.blame(f.rank, unit+": not ")
		}
	}
}

// heal makes all commands work.
func (n *nodes) heal() { clear(n.faults) }

// mountable tells whether the services that a mount needs are up.
func (n *nodes) mountable(ranks []int) bool {
	for _, s := range n.w.cfg.Services {
		if !strings.HasPrefix(s.Unit, "nnf-") {
			continue
		}
		for _, r := range ranks {
			if !n.up[place{r, s.Unit}] {
				return false
			}
		}
	}
	return true
}

func (n *nodes) run(c embed.Command) embed.Process {
	n.procs++
	rank, _ := strconv.Atoi(c.Env["BURROW_RANK"])
	p := place{rank, c.Env["BURROW_UNIT"]}
	verb := c.Env["BURROW_VERB"]
	if rank != c.Rank || verb != c.Args[1] || p.unit == "" {
		n.w.violated("a command was run with the wrong environment: %v on rank %d: %v", c.Args, c.Rank, c.Env)
	}
	proc := embed.Process{Duration: 40 * time.Millisecond}
	mishap := n.faults[fault{p, verb}]
	effect := true
	switch mishap {
	case fails, failsLate:
		proc.Stderr, proc.Status = "what it says before\n"+refusal(fault{p, verb})+"\n", 1<<8
		effect = mishap == failsLate
	case hangs:
		proc.Duration, effect = embed.Forever, false
	case hangsHard:
		proc.Duration, effect = embed.Forever, false
		proc.OnSignal = func(sig int) bool { return sig == 15 }
	case slow:
		proc.Duration = 700 * time.Millisecond
	}
	switch verb {
	case "start":
		n.starting[p]++
		n.w.starts(p)
		proc.Done = func(status int) {
			n.starting[p]--
			if effect && (status == proc.Status) {
				n.up[p] = true
			}
		}
	case "stop":
		n.w.stops(p)
		proc.Done = func(status int) {
			if effect && status == proc.Status {
				n.up[p] = false
			}
		}
	case "status":
		switch mishap {
		case hangs, hangsHard:
			return proc
		case slow:
			proc.Duration = 300 * time.Millisecond
		default:
			proc.Duration = 5 * time.Millisecond
		}
		switch {
		case mishap == fails || mishap == failsLate:
			proc.Status = 127 << 8 // it could not be run; 1 would say down
		case mishap == fine || mishap == slow:
			// The answer is of the moment when it looks.
			if !n.up[p] {
				proc.Status = 3 << 8
			}
		}
	default:
		n.w.violated("a command with the verb %q", verb)
	}
	return proc
}

// disturbs tells whether a service is up, or on its way there.
func (n *nodes) disturbs(p place) bool { return n.up[p] || n.starting[p] > 0 }
