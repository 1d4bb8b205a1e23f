// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

const (
	wantedTopic  = "job-manager.burrow.wanted"
	wantedLimit  = 10 * time.Second
	wantedAgain  = time.Second
	wantedMost   = 30 * time.Second
	statusLimit  = 5 * time.Second
	leader       = 0
	methodSet    = "set"
	methodStatus = "status"
)

// Agent is the service of one rank.
type Agent struct {
	host Host
	name string
	tree *Tree
	cfg  *config.Config
	node *Node
	// asking: the hooks were asked what is wanted.
	asking    bool
	cancelAsk func()
	closed    bool
}

// New makes the agent of the rank at the root of tree, and asks the hooks
// what is wanted there. name is its service's name, burrow as a rule.
func New(host Host, name string, tree *Tree, cfg *config.Config, ctl control.Controller) *Agent {
	a := &Agent{host: host, name: name, tree: tree, cfg: cfg, node: NewNode(host, ctl, cfg)}
	a.ask(0)
	return a
}

// ask asks the hooks what is wanted on this rank. Where there are none, the
// services are left as they are until somebody sets a phase.
func (a *Agent) ask(delay time.Duration) {
	a.asking = true
	payload := wire.Encode(wire.WantedRequest{Rank: a.host.Rank()})
	a.host.Call(leader, wantedTopic, payload, wantedLimit, func(payload string, err error) {
		if a.closed {
			return
		}
		var r wire.WantedResponse
		if err == nil {
			err = wire.Decode(payload, &r, "needs", "gen")
		}
		switch {
		case err == nil:
			a.asking = false
			a.node.Resume(r.Needs, r.Gen)
		case errors.Is(err, syscall.ENOSYS):
			a.asking = false
			if len(a.node.waiters) > 0 {
				a.node.Resume(nil, 0)
			}
		default:
			delay = min(max(2*delay, wantedAgain), wantedMost)
			a.host.Log(logWarning, "%s: %v: asking again in %v", wantedTopic, err, delay)
			a.cancelAsk = a.host.After(delay, func() { a.ask(delay) })
		}
	})
}

// Set answers burrow.set. reply is called once.
func (a *Agent) Set(payload string, reply func(payload string, err error)) {
	req, err := wire.DecodeSet(payload)
	if err != nil {
		reply("", err)
		return
	}
	SetBelow(a.host, a.name, a.tree, a.cfg.ServiceTimeout, req, func(done func(Result)) {
		a.node.Set(req.Need, done)
		// Hooks that were just loaded may not have heard what earlier ones were
		// asked.
		if a.node.Paused() && (!a.asking || req.ID == 0) {
			a.ask(0)
		}
	}, &a.node.stats.Forwarded, func(r wire.SetResponse) { reply(wire.Encode(r), nil) })
}

func noTrouble() wire.SetResponse {
	return wire.SetResponse{Failed: []wire.RankText{}, Skipped: []wire.RankText{}, Waiting: idset.New()}
}

// untroubled is the answer of nearly all ranks at nearly all times. To know it
// by sight spares the leader of a flat tree the reading of it.
var untroubled = wire.Encode(noTrouble())

// SetBelow carries out a wish on the ranks of a tree: local does it on the
// tree's root, the others are asked. With local nil the root is asked too,
// through its children where it has no agent.
func SetBelow(host Host, name string, tree *Tree, limit time.Duration, req wire.SetRequest,
	local func(done func(Result)), forwarded *uint64, reply func(wire.SetResponse)) {
	all := noTrouble()
	s := &Spread{
		Host:  host,
		Topic: name + "." + methodSet,
		Limit: limit,
		Payload: func(ranks *idset.Set) string {
			if forwarded != nil {
				*forwarded++
			}
			return wire.Encode(wire.SetRequest{Ranks: ranks, Need: req.Need})
		},
		Answer: func(payload string) error {
			if payload == untroubled {
				return nil
			}
			var r wire.SetResponse
			if err := wire.Decode(payload, &r, "failed"); err != nil {
				return err
			}
			all.Merge(r)
			return nil
		},
		Failed: func(ranks *idset.Set, reason string) { all.Failed = wire.AddText(all.Failed, ranks, reason) },
	}
	a := &answer{left: 1, done: func() { reply(all) }}
	trees := []*Tree{tree}
	if local != nil {
		trees = tree.Children
	}
	if local != nil && req.Ranks.Contains(int(tree.Rank)) {
		self := idset.New(int(tree.Rank))
		a.left++
		local(func(r Result) {
			if r.Failed != nil {
				all.Failed = wire.AddText(all.Failed, self, r.Failed.Error())
			}
			for _, unit := range r.Skipped {
				all.Skipped = wire.AddText(all.Skipped, self, unit)
			}
			if r.Waiting {
				all.Waiting.AddSet(self)
			}
			a.end()
		})
	}
	s.Unreached(trees, req.Ranks, tree.Rank)
	s.Down(trees, req.Ranks, a.end)
}

// answer calls done when all its parts have ended.
type answer struct {
	left int
	done func()
}

func (a *answer) end() {
	if a.left--; a.left == 0 {
		a.done()
	}
}

// Status answers burrow.status. reply is called once.
func (a *Agent) Status(payload string, reply func(payload string, err error)) {
	var req wire.StatusRequest
	if err := wire.Decode(payload, &req, "ranks"); err != nil {
		reply("", err)
		return
	}
	all := wire.StatusResponse{Nodes: []wire.NodeStatus{}, Failed: []wire.RankText{}}
	s := &Spread{
		Host:    a.host,
		Topic:   a.name + "." + methodStatus,
		Limit:   statusLimit,
		Payload: func(ranks *idset.Set) string { return wire.Encode(wire.StatusRequest{Ranks: ranks}) },
		Answer: func(payload string) error {
			var r wire.StatusResponse
			if err := wire.Decode(payload, &r, "nodes", "failed"); err != nil {
				return err
			}
			all.Merge(r)
			return nil
		},
		Failed: func(ranks *idset.Set, reason string) { all.Failed = wire.AddText(all.Failed, ranks, reason) },
	}
	if req.Ranks.Contains(int(a.tree.Rank)) {
		st := a.node.Status()
		st.Ranks = idset.New(int(a.tree.Rank))
		all.Merge(wire.StatusResponse{Nodes: []wire.NodeStatus{st}})
	}
	s.Unreached(a.tree.Children, req.Ranks, a.tree.Rank)
	s.Down(a.tree.Children, req.Ranks, func() { reply(wire.Encode(all), nil) })
}

// Stats answers burrow.stats-get.
func (a *Agent) Stats() string { return wire.Encode(a.node.stats) }

// Reconfigure takes a new configuration; ctl is the controller for it, or nil
// where the present one stays.
func (a *Agent) Reconfigure(cfg *config.Config, ctl control.Controller) {
	a.cfg = cfg
	a.node.Reconfigure(cfg, ctl)
}

// Notice hears that a service was changed by somebody else.
func (a *Agent) Notice() { a.node.Notice() }

// Close answers what waits and stops.
func (a *Agent) Close() {
	if a.closed {
		return
	}
	a.closed = true
	if a.cancelAsk != nil {
		a.cancelAsk()
	}
	a.node.Close()
}

// String names the agent in a log.
func (a *Agent) String() string { return fmt.Sprintf("%s on rank %d", a.name, a.host.Rank()) }
