// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// crowd is an instance with a job on each of its nodes.
func crowd(t *testing.T, jobs int, hooks bool) (*site, []embed.JobID) {
	s := newSite(t, embed.Options{Size: jobs, Cores: 4, Topology: "kary:0"}, hooks)
	var ids []embed.JobID
	for range jobs {
		ids = append(ids, s.submit(node(1)))
	}
	s.in.Advance(time.Minute)
	s.want("allocated", jobs)
	return s, ids
}

// Case i: the job manager tells nobody of a job that ends while no scheduler is
// loaded.
func TestSchedulerGoneMeanwhile(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		const jobs, gone = 1500, 200
		s, ids := crowd(t, jobs, hooks)
		s.m.Unload()
		for _, id := range ids[:gone] {
			s.in.Finish(id, 0)
		}
		s.in.Advance(time.Second)
		s.load()
		for range jobs { // the hello is on its way
			s.in.Step()
		}
		for _, id := range ids[gone : 2*gone] {
			s.in.Finish(id, 0)
		}
		s.in.Advance(time.Minute)
		s.want("hello.recovered", jobs-gone, "allocated", jobs-2*gone, "nodes.idle", 2*gone)
		s.end()
	})
}

// openGap loads the scheduler as a process and stops it as soon as the job
// manager has answered its hello: what ends until the process goes on, ends
// between hello and ready, and nobody is told.
func (s *site) openGap() {
	s.t.Helper()
	hellos, readies := s.hellos, s.readies
	s.start(nil, embed.AsProcess)
	if !s.in.Run(func() bool { return s.hellos > hellos }, time.Second) {
		s.t.Fatal("there was no hello")
	}
	s.m.Pause()
	s.in.Advance(time.Second)
	if s.readies != readies {
		s.t.Fatal("it is ready")
	}
}

func (s *site) closeGap() {
	s.m.Resume()
	s.in.Advance(time.Second)
}

// Case i: 200 of 1,500 jobs are cancelled between hello and ready.
func TestSchedulerGap(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		const jobs, gone = 1500, 200
		s, ids := crowd(t, jobs, hooks)
		s.m.Unload()
		s.in.Settle()
		s.openGap()
		readies := s.readies
		for _, id := range ids[:gone] {
			s.cancel(id)
		}
		if n := len(s.in.Active()); n != jobs-gone || s.readies != readies {
			t.Fatalf("%d jobs are active, ready: %t", n, s.readies != readies)
		}
		s.closeGap()
		s.want("hello.recovered", jobs, "hello.lost_jobs", gone, "allocated", jobs-gone, "nodes.idle", gone)
		big := s.submitted(node(gone))
		if s.in.State(big) != embed.StateRun {
			t.Error("the nodes that were lost are not given out")
		}
		s.end()
	})
}

// Case i: the process is stopped after each number of steps between hello and
// ready. Two of four jobs end, one of them with a node that is let go early, and
// a third loses part of its nodes.
func TestSchedulerGapAtEachStep(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		for step, open := 0, true; open; step++ {
			s := newSite(t, embed.Options{Size: 8, Cores: 4}, hooks)
			s.hk = func(_ embed.JobID, rank int) time.Duration {
				if rank == 5 {
					return time.Hour
				}
				return 0
			}
			a, b, c, d := s.submitted(node(1)), s.submitted(node(3)), s.submitted(node(2)), s.submitted(node(1))
			s.m.Unload()
			s.in.Settle()
			hellos, readies := s.hellos, s.readies
			s.start(nil, embed.AsProcess)
			s.in.Run(func() bool { return s.hellos > hellos }, time.Second)
			for range step {
				s.in.Step()
			}
			open = s.readies == readies
			s.m.Pause()
			s.cancel(a)
			s.cancel(b)
			s.cancel(c)
			s.closeGap()
			s.want("state", "ready", "hello.recovered", 4, "hello.fenced", 0, "allocated", 2, "nodes.idle", 6)
			s.runs(d, "[6]")
			e := s.submitted(node(7))
			s.runs(e, "")
			s.in.Advance(2 * time.Hour)
			s.runs(e, "[0 1 2 3 4 5 7]")
			s.end()
		}
	})
}
