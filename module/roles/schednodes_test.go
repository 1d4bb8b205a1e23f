// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// Case f: a drained node is given to nobody; the job on it runs on.
func TestSchedulerDrained(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 3, Cores: 4}, hooks)
		a := s.submitted(node(1))
		if _, err := s.in.RPC(0, 0, "resource.drain", `{"targets":"0-1","reason":"test"}`); err != nil {
			t.Fatal(err)
		}
		s.reload()
		s.want("hello.recovered", 1, "hello.fenced", 0, "nodes.up", 1, "nodes.idle", 1)
		b, c := s.submitted(node(1)), s.submitted(node(1))
		s.runs(a, "[0]")
		s.runs(b, "[2]")
		s.cancel(a)
		s.runs(c, "")
		if _, err := s.in.RPC(0, 0, "resource.undrain", `{"targets":"1"}`); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second)
		s.runs(c, "[1]")
		s.end()
	})
}

// Case f: a node of a job is excluded. What is left of the job is known, and the
// excluded node is nobody's.
func TestSchedulerExcluded(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		a := s.submitted(node(2))
		s.m.Unload()
		if err := s.in.ConfigReload("[resource]\nexclude = \"1\"\n"); err != nil {
			t.Fatal(err)
		}
		s.in.ReloadResourceModule()
		s.doubts = 1
		s.load()
		s.in.Settle()
		s.want("nodes.all", 3, "hello.recovered", 1, "hello.fenced", 0, "nodes.idle", 2, "hello.warnings.#", 1)
		b, c := s.submitted(node(2)), s.submitted(node(1))
		s.runs(a, "[0 1]")
		s.runs(b, "[2 3]")
		s.runs(c, "")
		s.cancel(a)
		s.runs(c, "[0]")
		s.end()
	})
}

// otherNodes reloads the scheduler with another inventory.
func (s *site) otherNodes(r string) {
	s.t.Helper()
	s.m.Unload()
	s.in.Settle()
	if err := s.in.ReloadResources(r); err != nil {
		s.t.Fatal(err)
	}
	s.load()
	s.in.Settle()
}

// Case f: nodes of a job that are not what they were.
func TestSchedulerOtherInventory(t *testing.T) {
	tests := []struct {
		name, lite, hosts string
		fenced, idle, all int
		free              string // where a job of all idle nodes runs
	}{
		{"gone", `{"rank":"0-1,3-5","children":{"core":"0-3"}}`, "node[0-1,3-5]", 0, 3, 5, "[3 4 5]"},
		{"fewer cores", `{"rank":"0,2-5","children":{"core":"0-3"}},{"rank":"1","children":{"core":"0-1"}}`, sixNodeList, 1, 3, 6, "[3 4 5]"},
		{"renamed", sixNodes, "node[0-1],other,node[3-5]", 1, 3, 6, "[3 4 5]"},
		{"moved", sixNodes, "node[0-1,4,3,2,5]", 2, 2, 6, "[3 5]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, hooks bool) {
				s := newSite(t, embed.Options{Size: 6, Cores: 4, R: instanceR(sixNodes, sixNodeList, "{}")}, hooks)
				older, a := s.submitted(node(1)), s.submitted(node(2))
				s.runs(a, "[1 2]")
				s.doubts = 1
				s.otherNodes(instanceR(tt.lite, tt.hosts, "{}"))
				s.want("nodes.all", tt.all, "hello.recovered", 2, "nodes.fenced", tt.fenced,
					"nodes.idle", tt.idle, "hello.warnings.#", 1)
				b, c := s.submitted(node(tt.idle)), s.submitted(node(1))
				s.runs(older, "[0]")
				s.runs(a, "[1 2]")
				s.runs(b, tt.free)
				s.runs(c, "")
				s.cancel(a)
				s.runs(c, "[1]")
				s.want("nodes.fenced", 0)
				s.end()
			})
		})
	}
}
