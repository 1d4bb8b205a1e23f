// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// Four jobs run on through a reload; a fifth waits for one of them.
func TestSchedulerReload(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		var jobs []embed.JobID
		for range 4 {
			jobs = append(jobs, s.submitted(node(1)))
		}
		s.reload()
		s.want("hello.recovered", 4, "hello.fenced", 0, "nodes.idle", 0)
		fifth := s.submitted(node(1))
		s.runs(fifth, "")
		s.cancel(jobs[2])
		s.runs(fifth, "[2]")
		s.runs(jobs[3], "[3]")
		s.end()
	})
}

// Housekeeping has let go of two of four nodes: the hello says so.
func TestSchedulerPartialRelease(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		s.hk = func(_ embed.JobID, rank int) time.Duration {
			return []time.Duration{time.Second, 2 * time.Second, time.Minute, time.Hour}[rank]
		}
		s.cancel(s.submitted(node(4)))
		s.in.Advance(10 * time.Second)
		s.want("nodes.idle", 2)
		s.reload()
		s.want("hello.recovered", 1, "hello.fenced", 0, "nodes.idle", 2)
		a, b := s.submitted(node(2)), s.submitted(node(2))
		s.runs(a, "[0 1]")
		s.runs(b, "")
		s.m.Unload() // rank 2 is let go of while nobody listens
		s.in.Advance(2 * time.Minute)
		s.load()
		s.in.Settle()
		s.want("hello.recovered", 2, "nodes.idle", 1)
		s.in.Advance(2 * time.Hour)
		s.runs(b, "[2 3]")
		s.end()
	})
}

// What goes ahead of a job that waits depends on when a running one ends.
func TestSchedulerExtended(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		spec := node(2)
		spec.TimeLimit = 10 * time.Minute
		a := s.submitted(spec)
		if err := s.in.UpdateDuration(a, 7200); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second) // the event is in the KVS
		s.reload("policy=easy")
		b := s.submitted(node(4))
		spec = node(1)
		spec.TimeLimit = time.Hour
		c := s.submitted(spec)
		spec.TimeLimit = 3 * time.Hour
		d := s.submitted(spec)
		s.runs(a, "[0 1]")
		s.runs(b, "")
		s.runs(c, "[2]") // would not, were the end the one of R
		s.runs(d, "")
		s.end()
	})
}
