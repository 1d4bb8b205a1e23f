// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"fmt"
	"testing"

	"flux-burrow/hooks/control"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

// life is a job's phases on a node, in order.
var life = []phase.Phase{phase.Mount, phase.Run, phase.Unmount, phase.Idle}

// interleave calls fn with each merge of n sequences of the given length: the
// index of the sequence at each step.
func interleave(n, length int, fn func(order []int)) {
	at := make([]int, n)
	var order []int
	var walk func()
	walk = func() {
		if len(order) == n*length {
			fn(order)
			return
		}
		for j := range at {
			if at[j] < length {
				at[j]++
				order = append(order, j)
				walk()
				order = order[:len(order)-1]
				at[j]--
			}
		}
	}
	walk()
}

// All interleavings of the phases of two and three jobs on one node, each
// change over at once, or under way until the next two steps: a service goes
// down only when no job needs it up, a wish for down is answered as waiting
// while one does, and at the end it is down.
func TestSharedNode(t *testing.T) {
	for _, jobs := range []int{2, 3} {
		for _, manual := range []bool{false, true} {
			n := 0
			interleave(jobs, len(life), func(order []int) {
				n++
				if err := sharedLife(jobs, order, manual); err != nil {
					t.Fatalf("%d jobs, order %v, slow %t: %v", jobs, order, manual, err)
				}
			})
			t.Logf("%d jobs, slow %t: %d interleavings", jobs, manual, n)
		}
	}
}

func sharedLife(jobs int, order []int, manual bool) (err error) {
	h := newFakeHost()
	u := newFakeUnits(h, "a.service")
	u.manual = manual
	node := NewNode(h, u, testConfig(clientMount))
	now := make([]phase.Phase, jobs)
	needed := func() bool {
		for _, p := range now {
			if clientMount.Up.Has(p) {
				return true
			}
		}
		return false
	}
	u.changed = func(o control.Order) {
		if o.Verb == control.Stop && needed() {
			err = fmt.Errorf("stopped while needed: %v", now)
		}
	}
	node.Resume(nil, 1)
	h.turn()
	at := make([]int, jobs)
	answers := 0
	for step, j := range order {
		p := life[at[j]]
		at[j]++
		now[j] = p
		node.Set(wire.Need{ID: uint64(j + 1), Phase: p, Gen: uint64(step + 2)}, func(r Result) {
			answers++
			down := u.state["a.service"] == control.Down
			switch {
			case r.Failed != nil:
				err = fmt.Errorf("step %d failed: %w", step, r.Failed)
			case clientMount.Up.Has(p) && now[j] == p && down:
				err = fmt.Errorf("step %d: %s answered while down", step, p)
			case !clientMount.Up.Has(p) && !down && !r.Waiting:
				err = fmt.Errorf("step %d: %s answered while up, and not as waiting", step, p)
			}
		})
		h.turn()
		if manual && step%3 == 2 {
			u.finish()
		}
		if err != nil {
			return err
		}
	}
	for u.finish() {
	}
	h.turn()
	switch {
	case err != nil:
		return err
	case answers != len(order):
		return fmt.Errorf("%d answers to %d wishes", answers, len(order))
	case u.state["a.service"] != control.Down:
		return fmt.Errorf("up at the end")
	case len(node.Needs()) != 0:
		return fmt.Errorf("needs are left: %v", node.Needs())
	}
	return nil
}
