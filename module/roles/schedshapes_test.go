// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"testing"

	"flux-burrow/t/embed"
)

// Case d: what two jobs have of the gpus of two nodes is theirs after a reload.
func TestSchedulerGPUs(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 2, Cores: 4, GPUs: 2}, hooks)
		gpus := func(slots, each int) embed.Jobspec {
			return embed.Jobspec{Slots: slots, GPUs: each, Run: embed.Forever}
		}
		a, b := s.submitted(gpus(1, 1)), s.submitted(gpus(1, 2))
		s.reload()
		s.want("hello.recovered", 2, "hello.fenced", 0)
		s.holding(a, "rank0/core0,gpu0")
		s.holding(b, "rank1/core0,gpu[0-1]")
		c, d := s.submitted(gpus(1, 2)), s.submitted(gpus(1, 1))
		s.runs(c, "")
		s.runs(d, "") // behind it
		s.cancel(c)
		s.holding(d, "rank0/core1,gpu1")
		e := s.submitted(embed.Jobspec{Slots: 5, Run: embed.Forever})
		s.holding(e, "rank0/core[2-3] rank1/core[1-3]")
		s.end()
	})
}

// Case d: nodes with a property that all are in use stay so.
func TestSchedulerProperties(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 6, Cores: 4,
			R: instanceR(sixNodes, sixNodeList, `{"big":"2-3","new":"0,3"}`)}, hooks)
		with := func(constraint string) embed.Jobspec {
			spec := node(1)
			spec.System = `"constraints":{"properties":[` + constraint + `]}`
			return spec
		}
		a, b := s.submitted(with(`"big"`)), s.submitted(with(`"big","new"`))
		s.reload()
		s.want("hello.recovered", 2, "hello.fenced", 0)
		s.runs(a, "[2]")
		s.runs(b, "[3]")
		c := s.submitted(with(`"new"`))
		s.runs(c, "[0]")
		d, e := s.submitted(with(`"big"`)), s.submitted(with(`"^big","^new"`))
		s.runs(d, "")
		s.runs(e, "")
		s.cancel(b)
		s.runs(d, "[3]")
		s.runs(e, "[1]")
		s.end()
	})
}

// Case d: a whole node is whole, though the job's tasks need one core of it.
func TestSchedulerWholeNodes(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 3, Cores: 4, GPUs: 1}, hooks)
		a := s.submitted(node(2))
		s.holding(a, "rank[0-1]/core[0-3],gpu0")
		s.reload()
		s.want("hello.recovered", 1, "hello.fenced", 0, "nodes.idle", 1)
		b := s.submitted(embed.Jobspec{Slots: 1, Run: embed.Forever})
		s.holding(b, "rank2/core0")
		c := s.submitted(node(1))
		s.runs(c, "")
		s.cancel(b)
		s.runs(c, "[2]")
		s.end()
	})
}

// Case d: jobs that share a node keep each its cores; one of them ends, and
// what it had is given to another.
func TestSchedulerSharedNode(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 2, Cores: 4}, hooks)
		cores := func(n int) embed.Jobspec { return embed.Jobspec{Slots: n, Run: embed.Forever} }
		a, b, c := s.submitted(cores(1)), s.submitted(cores(2)), s.submitted(cores(2))
		s.reload()
		s.want("hello.recovered", 3, "hello.fenced", 0)
		s.holding(a, "rank0/core0")
		s.holding(b, "rank0/core[1-2]")
		s.holding(c, "rank0/core3 rank1/core0")
		s.cancel(b)
		s.reload()
		d := s.submitted(cores(4))
		s.holding(d, "rank[0-1]/core[1-2]")
		s.end()
	})
}
