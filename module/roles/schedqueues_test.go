// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"fmt"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

const (
	batchQueue  = "[queues.batch]\nrequires = [\"batch\"]\n"
	debugQueue  = "[queues.debug]\nrequires = [\"debug\"]\n"
	twoHalves   = `{"batch":"0-2","debug":"3-5"}`
	sixNodes    = `{"rank":"0-5","children":{"core":"0-3"}}`
	sixNodeList = "node[0-5]"
)

// instanceR is R of an instance: entries of R_lite, hosts, properties.
func instanceR(lite, hosts, properties string) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[%s],"starttime":0,"expiration":0,"nodelist":[%q],"properties":%s}}`,
		lite, hosts, properties)
}

// queued is an instance of two queues of three nodes each.
func queued(t *testing.T, hooks bool) *site {
	s := newSite(t, embed.Options{Size: 6, Cores: 4, Config: batchQueue + debugQueue,
		R: instanceR(sixNodes, sixNodeList, twoHalves)}, hooks)
	if err := s.in.StartQueue(""); err != nil {
		t.Fatal(err)
	}
	return s
}

func inQueue(name string, nodes int) embed.Jobspec {
	spec := node(nodes)
	spec.Queue = name
	return spec
}

// Case b: as case a, with queues: a job that waits does so for the nodes of its
// own queue.
func TestSchedulerQueuesReload(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := queued(t, hooks)
		var batch []embed.JobID
		for range 3 {
			batch = append(batch, s.submitted(inQueue("batch", 1)))
		}
		debug := s.submitted(inQueue("debug", 2))
		s.reload()
		s.want("hello.recovered", 4, "hello.fenced", 0, "nodes.idle", 1)
		fifth, other := s.submitted(inQueue("batch", 1)), s.submitted(inQueue("debug", 1))
		s.runs(fifth, "")
		s.runs(other, "[5]")
		s.cancel(debug)
		s.runs(fifth, "")
		s.cancel(batch[1])
		s.runs(fifth, "[1]")
		s.end()
	})
}

// Case b: the queue of a running job, and of one that waits, is removed while
// no scheduler is loaded, and comes back later.
func TestSchedulerQueueRemoved(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := queued(t, hooks)
		a, b := s.submitted(inQueue("debug", 2)), s.submitted(inQueue("batch", 1))
		c := s.submitted(inQueue("debug", 3))
		s.runs(c, "")
		s.m.Unload()
		s.in.Settle() // the job manager has the request of the job that waits back
		if err := s.in.ConfigReload(batchQueue); err != nil {
			t.Fatal(err)
		}
		s.load()
		s.in.Advance(time.Minute)
		s.want("hello.recovered", 2, "hello.fenced", 0, "nodes.idle", 3)
		s.runs(a, "[3 4]")
		s.runs(b, "[0]")
		if _, err := s.in.Submit(inQueue("debug", 1)); err == nil {
			t.Error("a job was accepted for a queue that is gone")
		}
		// The removal of its queue does not take a job out of the job manager's
		// list for the scheduler (queue.c).
		s.cancel(a)
		s.runs(c, "[3 4 5]")
		s.want("nodes.idle", 2, "pending", 0)
		if err := s.in.ConfigReload(batchQueue + debugQueue); err != nil {
			t.Fatal(err)
		}
		if err := s.in.StartQueue("debug"); err != nil {
			t.Fatal(err)
		}
		d := s.submitted(inQueue("debug", 1))
		s.runs(d, "")
		s.cancel(c)
		s.runs(d, "[3]")
		s.end()
	})
}

// A queue that is stopped while its job waits takes the job back, also over a
// reload.
func TestSchedulerQueueStopped(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := queued(t, hooks)
		a := s.submitted(inQueue("batch", 3))
		b := s.submitted(inQueue("batch", 1))
		if err := s.in.StopQueue("batch"); err != nil {
			t.Fatal(err)
		}
		s.in.Settle()
		s.want("pending", 0)
		s.reload()
		s.cancel(a)
		s.runs(b, "")
		if err := s.in.StartQueue("batch"); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second)
		s.runs(b, "[0]")
		s.end()
	})
}
