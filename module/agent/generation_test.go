// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"fmt"
	"slices"
	"testing"

	"flux-burrow/hooks/control"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

// model says what a node must know after some wishes, in whatever order and
// however often they came: of each job the newest, but nothing below the
// newest floor.
func model(wishes []wire.Need) []wire.Need {
	var floor uint64
	newest := map[uint64]wire.Need{}
	for _, w := range wishes {
		switch {
		case w.ID == 0:
			floor = max(floor, w.Gen)
		case w.Gen > newest[w.ID].Gen:
			newest[w.ID] = w
		}
	}
	var needs []wire.Need
	for _, w := range newest {
		if w.Gen >= floor && w.Phase != phase.Idle {
			needs = append(needs, w)
		}
	}
	slices.SortFunc(needs, func(a, b wire.Need) int { return int(a.ID) - int(b.ID) })
	return needs
}

// All orders of six wishes of two jobs and of two loads of the hooks, with
// each of them repeated at each later moment: what the node knows at the end,
// and what the service is, do not depend on them.
func TestGeneration(t *testing.T) {
	histories := [][]wire.Need{
		// Two whole lives.
		{{ID: 1, Phase: phase.Mount, Gen: 2}, {ID: 2, Phase: phase.Mount, Gen: 3}, {ID: 1, Phase: phase.Run, Gen: 4},
			{ID: 2, Phase: phase.Run, Gen: 5}, {ID: 1, Phase: phase.Unmount, Gen: 6}, {ID: 1, Phase: phase.Idle, Gen: 7}},
		// A reload in the middle: job 1 is resumed, job 2 was over by then.
		{{ID: 1, Phase: phase.Mount, Gen: 2}, {ID: 2, Phase: phase.Unmount, Gen: 3}, {ID: 0, Gen: 4},
			{ID: 1, Phase: phase.Mount, Gen: 5}, {ID: 1, Phase: phase.Run, Gen: 6}},
		// Two reloads.
		{{ID: 1, Phase: phase.Unmount, Gen: 2}, {ID: 0, Gen: 3}, {ID: 2, Phase: phase.Run, Gen: 4}, {ID: 0, Gen: 5},
			{ID: 2, Phase: phase.Unmount, Gen: 6}},
	}
	n := 0
	for _, wishes := range histories {
		want := model(wishes)
		permute(slices.Clone(wishes), 0, func(order []wire.Need) {
			for again := -1; again < len(order); again++ {
				for at := again + 1; at <= len(order); at++ {
					list := slices.Clone(order)
					if again >= 0 {
						list = slices.Insert(list, at, order[again])
					} else if at > 0 {
						break
					}
					n++
					if err := receive(list, want); err != nil {
						t.Fatalf("%v: %v", list, err)
					}
				}
			}
		})
	}
	t.Logf("%d histories", n)
}

func permute(list []wire.Need, k int, fn func([]wire.Need)) {
	if k == len(list) {
		fn(list)
		return
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		permute(list, k+1, fn)
		list[k], list[i] = list[i], list[k]
	}
}

func receive(list, want []wire.Need) error {
	h := newFakeHost()
	u := newFakeUnits(h, "a.service")
	node := NewNode(h, u, testConfig(clientMount))
	node.Resume(nil, 0)
	answers := 0
	for i, w := range list {
		node.Set(w, func(Result) { answers++ })
		if i%2 == 0 {
			h.turn()
		}
		if have := node.Needs(); !slices.Equal(have, model(list[:i+1])) {
			return fmt.Errorf("after %d: needs %v, want %v", i+1, have, model(list[:i+1]))
		}
	}
	h.turn()
	up := control.Down
	for _, w := range want {
		if clientMount.Up.Has(w.Phase) {
			up = control.Up
		}
	}
	switch {
	case !slices.Equal(node.Needs(), want):
		return fmt.Errorf("needs %v, want %v", node.Needs(), want)
	case u.state["a.service"] != up:
		return fmt.Errorf("the service is %v, want %v", u.state["a.service"], up)
	case answers != len(list):
		return fmt.Errorf("%d answers to %d wishes", answers, len(list))
	}
	return nil
}

// What the hooks say is wanted may be older than wishes that came meanwhile.
func TestResumeIsLate(t *testing.T) {
	h := newFakeHost()
	u := newFakeUnits(h, "a.service")
	node := NewNode(h, u, testConfig(clientMount))
	node.Set(wire.Need{ID: 1, Phase: phase.Idle, Gen: 9}, func(Result) {})
	node.Set(wire.Need{ID: 2, Phase: phase.Mount, Gen: 8}, func(Result) {})
	h.turn()
	if len(u.changes) != 0 {
		t.Errorf("changes before it is known what is wanted: %v", u.changes)
	}
	node.Resume([]wire.Need{{ID: 1, Phase: phase.Unmount, Gen: 5}, {ID: 2, Phase: phase.Mount, Gen: 5}, {ID: 3, Phase: phase.Run, Gen: 5}}, 4)
	h.turn()
	want := []wire.Need{{ID: 2, Phase: phase.Mount, Gen: 8}, {ID: 3, Phase: phase.Run, Gen: 5}}
	if !slices.Equal(node.Needs(), want) || u.state["a.service"] != control.Up {
		t.Errorf("needs %v, service %v", node.Needs(), u.state["a.service"])
	}
}
