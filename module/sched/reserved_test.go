// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"
	"testing"
)

// Feasibility knows advance reservations, and how much of them is left.
func TestReservationFault(t *testing.T) {
	f := start(t, inventoryOf(4, 2, 0, ""), true)
	f.reserveCall("add", f.asked("a", "0-1", 10, 100))
	check := func(nodes int, limit float64, name string) string {
		said := "nothing"
		spec := nodesSpec(nodes, limit, fmt.Sprintf(`"burrow":{"reservation":%q}`, name))
		send(f.engine, "feasibility.check", fmt.Sprintf(`{"jobspec":%s}`, spec), func(_ string, err error) {
			said = "yes"
			if err != nil {
				said = err.Error()
			}
		})
		return said
	}
	for _, tt := range []struct {
		after float64
		nodes int
		limit float64
		name  string
		want  string
	}{
		{0, 2, 100, "a", "yes"},
		{0, 2, 101, "a", "of which 100 s are left"},
		{0, 3, 10, "a", "of the 2 nodes of the advance reservation a too few fit"},
		{0, 1, 10, "b", `there is no advance reservation "b"`},
		{60, 1, 50, "a", "yes"},
		{60, 1, 51, "a", "of which 50 s are left"},
		{111, 1, 1, "a", `there is no advance reservation "a"`},
	} {
		f.run()
		f.advance(f.began(tt.after))
		if got := check(tt.nodes, tt.limit, tt.name); !strings.Contains(got, tt.want) {
			t.Errorf("after %g s, %d nodes for %g s in %s: %s", tt.after, tt.nodes, tt.limit, tt.name, got)
		}
	}
	if f.engine.plan.Block("a") != nil {
		t.Error("the plan still has it")
	}
}

// began returns how long it is until so many seconds after the start.
func (f *fakeFlux) began(s float64) float64 { return max(0, 1e9+s-f.now) }
