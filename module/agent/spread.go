// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// hop is what one link may add to the time of an answer.
const hop = 2 * time.Second

// Spread is one request for many ranks, sent once per link.
type Spread struct {
	Host  Host
	Topic string
	// Limit is the time that the work on one node may take.
	Limit time.Duration
	// Payload makes the request for some of the ranks.
	Payload func(ranks *idset.Set) string
	// Answer takes an answer; an error makes its ranks failed ones.
	Answer func(payload string) error
	// Failed is told of ranks that did not answer, and why.
	Failed func(ranks *idset.Set, reason string)
}

// Down sends the request to ranks, all of which are in trees, and calls done
// once all have answered or failed. A tree whose root has no agent, or lost
// it, is reached by way of its children, since its broker still routes. So is
// one whose root does not answer in time; but if its children don't either, a
// broker hangs there, and the wait is not to be that of each level of the tree.
func (s *Spread) Down(trees []*Tree, ranks *idset.Set, done func()) {
	// Held until all are sent, so that done can't come early.
	pending := 1
	end := func() {
		if pending--; pending == 0 {
			done()
		}
	}
	var send sender
	send = func(trees []*Tree, ranks *idset.Set, around bool) {
		for _, t := range trees {
			part := t.Ranks.Intersect(ranks)
			if part.Empty() {
				continue
			}
			pending++
			limit := s.Limit + time.Duration(t.Height+1)*hop
			s.Host.Call(t.Rank, s.Topic, s.Payload(part), limit, func(payload string, err error) {
				if err == nil {
					err = s.Answer(payload)
				}
				if err != nil {
					s.failed(t, part, limit, err, around, send)
				}
				end()
			})
		}
	}
	send(trees, ranks, false)
	end()
}

// sender sends a request to ranks, all of which are in trees. around: it goes
// around a rank that did not answer in time.
type sender func(trees []*Tree, ranks *idset.Set, around bool)

func (s *Spread) failed(t *Tree, part *idset.Set, limit time.Duration, err error, around bool, send sender) {
	reason := "burrow agent: " + err.Error()
	below := part.Clone()
	below.Remove(int(t.Rank))
	if part.Contains(int(t.Rank)) {
		s.Failed(idset.New(int(t.Rank)), reasonOf(err, limit))
	}
	switch {
	case below.Empty():
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EHOSTUNREACH):
		send(t.Children, below, around)
	case errors.Is(err, syscall.ETIMEDOUT) && !around:
		send(t.Children, below, true)
	case errors.Is(err, syscall.ETIMEDOUT):
		s.Failed(below, fmt.Sprintf("not reached: rank %d on the way there does not answer", t.Rank))
	default:
		s.Failed(below, reason)
	}
}

func reasonOf(err error, limit time.Duration) string {
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return wire.NotLoaded
	case errors.Is(err, syscall.EHOSTUNREACH):
		return wire.Lost(err.Error())
	case errors.Is(err, syscall.ETIMEDOUT):
		return fmt.Sprintf("no answer from the burrow agent in %v", limit)
	}
	return "burrow agent: " + err.Error()
}

// Unreached gives, and reports, the ranks that are in none of the trees.
func (s *Spread) Unreached(trees []*Tree, ranks *idset.Set, from uint32) {
	left := ranks.Clone()
	left.Remove(int(from))
	for _, t := range trees {
		left.RemoveSet(t.Ranks)
	}
	if !left.Empty() {
		s.Failed(left, fmt.Sprintf("no such rank below rank %d", from))
	}
}
