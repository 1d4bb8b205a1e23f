// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/module/roles"
	"flux-burrow/t/embed"
)

// configure reloads the configuration of the two queues with more of it; want
// is in the error, "" for none.
func (s *site) configure(more, want string) {
	s.t.Helper()
	err := s.in.ConfigReload(batchQueue + debugQueue + more)
	switch {
	case err == nil && want != "":
		s.t.Errorf("%s: it was taken, want %s", more, want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		s.t.Errorf("%s: %v, want %q", more, err, want)
	}
	s.in.Settle()
}

// What a site writes holds without a restart of the module, for all and per
// queue; what goes away is the default again.
func TestSchedulerConfigFollowed(t *testing.T) {
	s := queued(t, true)
	s.want("policy", "fifo", "match", "first", "reservation_depth", 1, "node_exclusive", false, "queues", "{}")
	s.configure(`[sched-burrow]
policy = "conservative"
match = "worst"
node-exclusive = ["big", "gpu"]
writer = "rv1"
log-level = "warning"
queue-depth = 9
[sched-burrow.queues.debug]
policy = "easy"
reservation-depth = 4
node-exclusive = true
[sched-burrow.queues.batch]
reservation-depth = 0`, "")
	s.want("policy", "conservative", "match", "worst", "reservation_depth", "all", "node_exclusive", `["big","gpu"]`,
		"writer", "rv1", "log_level", "warning", "queue_depth", 9,
		"queues.debug", `{"policy":"easy","reservation_depth":4,"node_exclusive":true}`,
		"queues.batch", `{"policy":"conservative","reservation_depth":0,"node_exclusive":["big","gpu"]}`)
	s.configure("[sched-burrow]\nmatch = \"best\"", "")
	s.want("policy", "fifo", "match", "best", "reservation_depth", 1, "node_exclusive", false,
		"writer", "rv1exec", "log_level", "info", "queue_depth", 0, "queues", "{}")
	s.configure("", "")
	s.want("match", "first", "hello.recovered", 0, "state", "ready")
	s.end()
}

// The table is there at load, and a wrong one refuses it.
func TestSchedulerConfigAtLoad(t *testing.T) {
	s := queued(t, true)
	s.configure("[sched-burrow]\npolicy = \"easy\"", "")
	s.reload()
	s.want("policy", "easy")
	s.m.Unload()
	s.configure("[sched-burrow]\npolicy = \"lifo\"", "") // nobody is there who would mind
	_, err := s.in.LoadModule(0, "sched-burrow", nil, roles.StartScheduler)
	if err == nil || !strings.Contains(err.Error(), `sched-burrow.policy: "lifo" is none of`) {
		t.Errorf("load: %v", err)
	}
	s.configure("", "")
	s.load()
	s.in.Settle()
	s.want("policy", "fifo")
	s.end()
}

// Arguments win, at load and on each reload, but not over what is a queue's own.
func TestSchedulerConfigArguments(t *testing.T) {
	s := queued(t, true)
	const table = "[sched-burrow]\npolicy = \"conservative\"\nmatch = \"best\"\n[sched-burrow.queues.debug]\npolicy = \"fifo\""
	s.configure(table, "")
	s.reload("policy=easy", "reservation-depth=3")
	s.want("policy", "easy", "reservation_depth", 3, "match", "best", "queues.debug.policy", "fifo", "queues.debug.reservation_depth", 3)
	s.configure(strings.ReplaceAll(table, "best", "worst"), "")
	s.want("policy", "easy", "reservation_depth", 3, "match", "worst", "queues.debug.policy", "fifo")
	s.configure("[sched-burrow]\npolicy = \"lifo\"", "sched-burrow.policy") // still checked
	s.configure("", "")
	s.want("policy", "easy", "reservation_depth", 3, "match", "first", "queues", "{}")
	s.end()
}

// A wrong key or value refuses the reload with its name, and all stays as it was.
func TestSchedulerConfigRefused(t *testing.T) {
	s := queued(t, true)
	const good = "[sched-burrow]\npolicy = \"easy\"\n[sched-burrow.queues.debug]\nreservation-depth = 2\n"
	s.configure(good, "")
	before := s.in.Config()
	for _, tt := range []struct{ more, want string }{
		{"[sched-burrow]\npolicy = \"lifo\"", `error updating sched-burrow: sched-burrow.policy: "lifo" is none of fifo, easy, conservative`},
		{"[sched-burrow]\npolcy = \"easy\"", `sched-burrow.polcy: unknown key: there are`},
		{"[sched-burrow.queues.debug]\npolicy = \"lifo\"", `sched-burrow.queues.debug.policy: "lifo" is none of`},
		{"[sched-burrow.queues.nosuch]\npolicy = \"easy\"", `sched-burrow.queues.nosuch: there is no such queue: [queues] names batch, debug`},
		{"[sched-burrow]\npolicy = \"fifo\"\nreservation-depth = -3", `sched-burrow.reservation-depth: -3 is neither`},
	} {
		s.configure(tt.more, tt.want)
		s.want("policy", "easy", "queues.debug.reservation_depth", 2)
		if s.in.Config() != before {
			t.Errorf("%s: the configuration is %s", tt.more, s.in.Config())
		}
	}
	// The queue goes away, its table stays.
	if err := s.in.ConfigReload(batchQueue + good); err == nil || !strings.Contains(err.Error(), "sched-burrow.queues.debug: there is no such queue: [queues] names batch") {
		t.Errorf("a queue is gone: %v", err)
	}
	s.end()
}

// Another module that gets the same configuration later refuses it: what was
// before holds again.
func TestSchedulerConfigRefusedByAnother(t *testing.T) {
	s := queued(t, true)
	s.configure("[sched-burrow]\npolicy = \"easy\"\nqueue-depth = 5", "")
	var told []string // what the scheduler went by when the other was asked
	_, err := s.in.LoadModule(0, "other", nil, func(h *flux.Handle, _ []string) (func(), error) {
		m, err := h.HandleRequest("other.config-reload", 0, func(r *flux.Request) {
			for _, l := range s.in.Log() {
				if strings.HasPrefix(l.Text, "configuration: ") {
					told = append(told, l.Text)
				}
			}
			_ = r.RespondError(&flux.Error{Num: syscall.EINVAL, Text: "no"})
		})
		if err != nil {
			return nil, err
		}
		return m.Destroy, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.configure("[sched-burrow]\npolicy = \"conservative\"\nqueue-depth = 7", "error updating other: no")
	if n := len(told); n == 0 || !strings.HasPrefix(told[n-1], "configuration: policy=conservative") {
		t.Errorf("the scheduler had not taken it: %q", told)
	}
	s.want("policy", "easy", "queue_depth", 5)
	s.end()
}

// A new policy is gone by at once, with no other event.
func TestSchedulerConfigPolicyHolds(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		limited := func(nodes int, limit time.Duration) embed.JobID {
			spec := node(nodes)
			spec.TimeLimit = limit
			return s.submitted(spec)
		}
		limited(2, time.Hour)
		limited(4, time.Hour)
		c := limited(1, time.Minute)
		s.in.Advance(5 * time.Second)
		s.runs(c, "")
		if err := s.in.ConfigReload("[sched-burrow]\npolicy = \"easy\""); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second)
		s.runs(c, "[2]")
		s.end()
	})
}

// queue-depth: more requests come at once; after a lower one those that are
// open stay open, and no more come before there are fewer.
func TestSchedulerConfigQueueDepth(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 2, Cores: 4, Config: "[sched-burrow]\nqueue-depth = 2"}, hooks)
		depth := func(text string, pending int) {
			t.Helper()
			if err := s.in.ConfigReload("[sched-burrow]\nqueue-depth = " + text); err != nil {
				t.Fatal(err)
			}
			s.in.Advance(time.Second)
			s.want("pending", pending)
		}
		holder := s.submitted(node(2))
		var waiting []embed.JobID
		for range 8 {
			waiting = append(waiting, s.submitted(node(2)))
		}
		s.want("pending", 2)
		depth("4", 4)
		depth(`"unlimited"`, 8)
		depth("3", 8)
		for _, id := range waiting[3:] { // down to the limit
			s.cancel(id)
		}
		s.want("pending", 3)
		s.submitted(node(2))
		s.want("pending", 3)
		s.cancel(waiting[2])
		s.want("pending", 3)
		s.cancel(holder)
		s.runs(waiting[0], "[0 1]")
		s.end()
	})
}
