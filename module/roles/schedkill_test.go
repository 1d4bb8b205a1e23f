// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/jobid"
	"flux-burrow/t/embed"
)

// process loads the scheduler as a process of its own, which can be killed.
func (s *site) process() { s.start(nil, embed.AsProcess) }

func (s *site) killed() {
	s.m.Kill()
	s.in.Settle()
}

func (s *site) steps(n int) {
	for range n {
		s.in.Step()
	}
}

// Case j: killed after each number of steps on the way to ready; the next one
// has all jobs, every time.
func TestSchedulerKilledInHello(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 6, Cores: 4}, hooks)
		a, b := s.submitted(node(2)), s.submitted(embed.Jobspec{Slots: 2, Run: embed.Forever})
		c := s.submitted(node(3))
		waits := s.submitted(node(1))
		s.m.Unload()
		s.in.Settle()
		n, readies := 0, s.readies
		for ; s.readies == readies; n++ {
			s.process()
			s.steps(n)
			s.killed()
			s.runs(a, "[0 1]")
			s.runs(c, "[3 4 5]")
		}
		if n < 10 {
			t.Errorf("ready after %d steps", n)
		}
		s.load()
		s.in.Settle()
		s.want("hello.recovered", 3, "hello.fenced", 0, "nodes.idle", 0)
		s.holding(b, "rank2/core[0-1]")
		s.runs(waits, "")
		s.cancel(b)
		s.runs(waits, "[2]")
		s.end()
	})
}

// Case j: killed after each number of steps while it gives out nodes. A job
// whose R was written and that was not told waits again, and gets some.
func TestSchedulerKilledInAlloc(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		for n, busy := 0, true; busy; n++ {
			s := newSite(t, embed.Options{Size: 6, Cores: 4}, hooks)
			old := s.submitted(node(1))
			s.m.Unload()
			s.in.Settle()
			s.process()
			s.want("state", "ready")
			jobs := []embed.JobID{s.submit(node(2)), s.submit(embed.Jobspec{Slots: 2, Run: embed.Forever}),
				s.submit(embed.Jobspec{Slots: 2, Run: embed.Forever})}
			s.steps(n)
			busy = false
			for _, id := range jobs {
				busy = busy || s.in.State(id) != embed.StateRun
			}
			s.killed()
			s.load()
			s.in.Advance(time.Second)
			s.want("state", "ready", "hello.fenced", 0, "allocated", 4, "nodes.idle", 2)
			s.runs(old, "[0]")
			for _, id := range jobs {
				if s.in.State(id) != embed.StateRun {
					t.Fatalf("after %d steps: %s is left waiting", n, jobid.ID(id).String())
				}
			}
			s.end()
		}
	})
}

// Unloaded after each number of steps while it gives out nodes, and loaded again
// at once: an alloc request for the one before may then reach the next.
func TestSchedulerReloadedInAlloc(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		for n, busy := 0, true; busy; n++ {
			s := newSite(t, embed.Options{Size: 6, Cores: 4}, hooks)
			old := s.submitted(node(1))
			var jobs []embed.JobID
			for range 5 {
				jobs = append(jobs, s.submit(node(1)))
			}
			s.in.Run(func() bool { return s.in.State(jobs[4]) == embed.StateSched }, time.Second)
			s.steps(n)
			busy = s.in.State(jobs[4]) != embed.StateRun
			s.m.Unload()
			s.load()
			s.in.Advance(time.Second)
			s.want("state", "ready", "hello.fenced", 0, "allocated", 6, "pending", 0)
			s.runs(old, "[0]")
			s.end()
		}
	})
}

// Case j: killed after each number of steps while jobs end: what it was to be
// told of is free under the next.
func TestSchedulerKilledInFree(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		for n, busy := 0, true; busy; n++ {
			s := newSite(t, embed.Options{Size: 6, Cores: 4}, hooks)
			s.hk = func(_ embed.JobID, rank int) time.Duration { return time.Duration(rank) * time.Millisecond }
			s.m.Unload()
			s.in.Settle()
			s.process()
			a, b := s.submitted(node(3)), s.submitted(node(3))
			if err := s.in.Cancel(a); err != nil {
				t.Fatal(err)
			}
			s.steps(n)
			busy = s.in.State(a) != embed.StateInactive
			s.killed()
			s.load()
			s.in.Advance(time.Second)
			s.want("state", "ready", "hello.fenced", 0, "allocated", 1, "nodes.idle", 3)
			s.runs(b, "[3 4 5]")
			s.end()
		}
	})
}

// brokerKilled kills the brokers and starts them again. Of what the witness saw
// that counts which is in the KVS.
func (s *site) brokerKilled() {
	s.in.RestartBroker(0)
	for id := range s.holds {
		granted := false
		for _, e := range s.in.Eventlog(id) {
			granted = granted || e.Name == "alloc"
		}
		if !granted {
			delete(s.holds, id)
		}
	}
	s.load()
	s.in.Settle()
}

// Case j: the broker is killed and started from its statedir. A job whose tasks
// ran is ended, as these are gone; one in its prolog lives on with what it has.
func TestSchedulerBrokerKilled(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 6, Cores: 4, NoReattach: true}, hooks)
		held := func(spec embed.Jobspec) embed.JobID {
			spec.Urgency = -1
			id := s.submitted(spec)
			s.in.PostEvent(id, "prolog-start", `{"description":"held"}`)
			if err := s.in.SetUrgency(id, 16); err != nil {
				t.Fatal(err)
			}
			s.in.Advance(time.Second)
			return id
		}
		a, b := held(node(2)), held(embed.Jobspec{Slots: 1, Run: embed.Forever})
		c, d := s.submitted(node(1)), s.submitted(node(4))
		s.runs(c, "[3]")
		s.runs(d, "")
		s.brokerKilled()
		s.in.Advance(time.Minute)
		if s.in.State(c) != embed.StateInactive {
			t.Errorf("the job whose tasks are gone is %s", s.in.State(c))
		}
		s.want("state", "ready", "hello.fenced", 0, "allocated", 2)
		s.runs(a, "[0 1]")
		s.holding(b, "rank2/core0")
		s.runs(d, "")
		e := s.submit(embed.Jobspec{Slots: 1, Run: embed.Forever, Urgency: 20})
		s.in.Advance(time.Second)
		s.holding(e, "rank2/core1")
		for _, id := range []embed.JobID{a, b} {
			s.in.PostEvent(id, "prolog-finish", `{"description":"held","status":0}`)
		}
		s.in.Advance(time.Second)
		if n := len(s.in.TasksOn(0)); n != 1 {
			t.Errorf("%d jobs run on rank 0", n)
		}
		s.cancel(b)
		s.cancel(e)
		s.runs(d, "[2 3 4 5]")
		s.end()
	})
}

// Case j: the broker is killed after each number of steps while jobs are given
// nodes. A job whose R was written and whose alloc event was not is refused with
// a warning, and no other.
func TestSchedulerBrokerKilledInAlloc(t *testing.T) {
	refused := 0
	bothWays(t, func(t *testing.T, hooks bool) {
		for n, busy := 0, true; busy; n++ {
			s := newSite(t, embed.Options{Size: 6, Cores: 4, NoReattach: true}, hooks)
			before := s.submitted(node(6))
			jobs := []embed.JobID{s.submitted(node(2)), s.submitted(embed.Jobspec{Slots: 2, Run: embed.Forever}), s.submitted(node(1))}
			if err := s.in.Cancel(before); err != nil {
				t.Fatal(err)
			}
			s.steps(n)
			log, _ := s.in.KVSGet(jobid.ID(jobs[2]).Key("eventlog"))
			busy = !strings.Contains(log, "alloc")
			s.brokerKilled()
			s.in.Advance(time.Minute)
			s.want("state", "ready", "hello.fenced", 0)
			for _, id := range jobs {
				for _, e := range s.in.Eventlog(id) {
					if strings.Contains(e.Context, "submit it again") {
						s.doubts++
						refused++
					}
				}
			}
			s.end()
		}
	})
	if refused == 0 {
		t.Error("no kill fell between the R of a job and its alloc event")
	}
}
