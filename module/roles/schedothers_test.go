// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/t/embed"
)

// recordedR gives R that Fluxion wrote, each with its scheduling key.
func recordedR(t *testing.T) []string {
	f, err := os.Open("../../rv1reader/testdata/fluxion-rv1-jgf-pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		o := gjson.Parse(lines.Text())
		r, err := rv1reader.SetScheduling([]byte(o.Get("R").Raw), []byte(o.Get("jgf").Raw))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(r))
	}
	return list
}

// play is a scheduler that gives one job after the other the next of a list of
// R, until it is told to leave.
func (s *site) play(list []string) (leave func()) {
	s.in.Service("sched", func(r *embed.Request) {
		if r.Topic() != "sched.alloc" || len(list) == 0 {
			return
		}
		id := gjson.Get(r.Payload(), "id").Uint()
		s.in.KVSPut(jobid.ID(id).Key("R"), list[0])
		r.Respond(fmt.Sprintf(`{"id":%d,"type":0,"R":%s}`, id, list[0]))
		list = list[1:]
	})
	c := s.in.Client(0)
	if _, err := c.Call(0, "job-manager.sched-ready", `{"mode":"unlimited"}`); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.in.RemoveService(0, "sched")
		c.Close()
		s.in.Settle()
	}
}

// Case c: R with a scheduling key that Fluxion wrote. The job manager has R
// without it in memory, the KVS with it.
func TestSchedulerAfterFluxion(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 8,
			R: instanceR(`{"rank":"0-7","children":{"core":"0-7","gpu":"0-1"}}`, "tioga[0-7]", "{}")}, hooks)
		s.m.Unload()
		recorded := recordedR(t)
		leave := s.play(recorded)
		var jobs []embed.JobID
		for range recorded {
			jobs = append(jobs, s.submitted(node(1)))
		}
		leave()
		s.load()
		s.in.Settle()
		s.want("hello.recovered", len(jobs), "hello.fenced", 0, "nodes.idle", 0)
		s.holding(jobs[1], "rank[1-3]/core7,gpu[0-1]")
		text, _ := s.in.KVSGet(jobid.ID(jobs[1]).Key("R"))
		if !gjson.Get(text, "scheduling.graph.nodes").Exists() {
			t.Fatalf("there is no scheduling key in %s", text)
		}
		two := s.submitted(node(2))
		s.runs(two, "")
		s.cancel(jobs[4])
		s.runs(two, "[6 7]")
		rest := s.submitted(embed.Jobspec{Slots: 3 + 3*7 + 4 + 5, Run: embed.Forever})
		s.holding(rest, "rank0/core[0-2] rank[1-3]/core[0-6] rank4/core[0-3] rank5/core[0-4]")
		s.end()
	})
}

// Case c: R of sched-simple, whose answers the instance's own allocator gives.
func TestSchedulerAfterSimple(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		s.m.Unload()
		s.in.LoadAllocator()
		s.in.Settle()
		a, b := s.submitted(node(2)), s.submitted(embed.Jobspec{Slots: 2, Run: embed.Forever})
		limited := embed.Jobspec{Slots: 1, Run: embed.Forever, TimeLimit: time.Hour}
		c := s.submitted(limited)
		s.in.UnloadAllocator()
		s.in.Settle()
		s.load()
		s.in.Settle()
		s.want("hello.recovered", 3, "hello.fenced", 0, "nodes.idle", 1)
		s.runs(a, "[0 1]")
		s.holding(b, "rank2/core[0-1]")
		s.holding(c, "rank2/core2")
		d, e := s.submitted(embed.Jobspec{Slots: 1, Run: embed.Forever}), s.submitted(node(2))
		s.holding(d, "rank2/core3")
		s.runs(e, "")
		s.cancel(a)
		s.runs(e, "[0 1]")
		s.end()
	})
}
