// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"flux-burrow/hooks/jobid"
)

// machine reads nodes such as "4 4/2 4-": cores, gpus, down.
func machine(text string) (nodes []refNode) {
	for _, word := range strings.Fields(text) {
		n := refNode{up: !strings.HasSuffix(word, "-"), props: map[string]bool{}}
		fmt.Sscanf(strings.Replace(word, "/", " ", 1), "%d %d", &n.room.cores, &n.room.gpus)
		nodes = append(nodes, n)
	}
	return nodes
}

// was is a job that has so many cores of a node until a time; 0 for ever.
func running(id, n, cores int, until float64) refJob {
	j := refJob{id: jobid.ID(id), running: true, holds: map[int]room{n: {cores, 0}}}
	if until != 0 {
		j.expiration = epoch + until
	}
	return j
}

// wholes asks for whole nodes, pieces for slots of cores. Both end in time.
func wholes(n int, limit float64) event {
	return event{what: "submit", job: refJob{priority: 16, nodes: n, slots: 1, cores: 1, whole: true, limit: limit, lasts: limit}}
}

func pieces(n, cores int, limit float64) event {
	return event{what: "submit", job: refJob{priority: 16, slots: n, cores: cores, limit: limit, lasts: limit}}
}

// threes asks for nodes with three cores on each.
func threes(n int, limit float64) event {
	e := wholes(n, limit)
	e.job.whole, e.job.cores = false, 3
	return e
}

func (e event) inside(block string) event { e.job.block = block; return e }
func (e event) in(queue string) event     { e.job.queue = queue; return e }
func (e event) at(priority int) event     { e.job.priority = priority; return e }
func (e event) with(gpus int) event       { e.job.gpus = gpus; return e }
func (e event) together() event           { e.more = true; return e }
func pass(seconds int) event              { return event{what: "wait", value: seconds} }
func happens(what string, n int) event    { return event{what: what, pick: n} }

// What starts where and when, worked out by hand. Jobs are numbered from 11 in
// the order in which they are submitted.
var tables = []struct {
	name   string
	nodes  string
	match  string
	queues map[string]refQueue
	runs   []refJob
	events []event
	want   string // for all policies
	but    map[string]string
}{
	{name: "one by one", nodes: "4", events: []event{wholes(1, 10), wholes(1, 10), wholes(1, 10), pass(40)},
		want: "11@0:0 12@10:0 13@20:0"},
	{name: "in order of priority, then of age", nodes: "4",
		events: []event{wholes(1, 10).together(), wholes(1, 10).at(20).together(), wholes(1, 10), pass(40)},
		want:   "11@10:0 12@0:0 13@20:0"},
	{name: "held", nodes: "4", events: []event{wholes(1, 10).at(0).together(), wholes(1, 10), pass(40)}, want: "12@0:0"},

	// FACTS 59: a job that needs a node that is down holds back nobody.
	{name: "parked", nodes: "4 4 4 4-",
		events: []event{wholes(4, 10).together(), wholes(1, 10).together(), wholes(1, 10), pass(3), happens("node", 3), pass(20)},
		want:   "11@10:0-3 12@0:0 13@0:1"},
	// FACTS 59: no more does one that waits for a job without a limit.
	{name: "without limit", nodes: "4 4", runs: []refJob{running(1, 0, 4, 0)},
		events: []event{wholes(2, 10).together(), wholes(1, 20), pass(50), happens("end", 0), pass(20)},
		want:   "11@50:0-1 12@0:1", but: map[string]string{"fifo": "11@50:0-1 12@60:0"}},
	{name: "without limit, a queue beside", nodes: "4 4", runs: []refJob{running(1, 0, 4, 0)},
		events: []event{wholes(2, 10).together(), wholes(1, 20).in("q"), pass(50), happens("end", 0), pass(20)},
		want:   "11@50:0-1 12@0:1"},
	{name: "two without limit", nodes: "4 4", runs: []refJob{running(1, 0, 4, 0)},
		events: []event{wholes(2, 10).in("q").together(), wholes(1, 0), pass(10)},
		want:   "12@0:1"},
	// FACTS 60: a job that is 100 seconds late is given another 100.
	{name: "overdue", nodes: "4 4", runs: []refJob{running(1, 0, 4, -100)},
		events: []event{wholes(2, 10).together(), wholes(1, 100).in("q").together(), wholes(1, 150).in("r"), pass(50), happens("end", 0), pass(100)},
		want:   "11@100:0-1 12@0:1 13@110:0"},
	{name: "overdue and beyond", nodes: "4 4", runs: []refJob{running(1, 0, 4, 10)},
		// Its end is taken to be 11, 12, 14, 18, 26 and 42: at 26 there is
		// room for a job of 16 seconds.
		events: []event{wholes(2, 10).together(), wholes(1, 16).in("q"), pass(60)},
		want:   "12@26:1"},

	{name: "cores are reserved, not nodes", nodes: "4", runs: []refJob{running(1, 0, 3, 100)},
		events: []event{pieces(1, 2, 50).together(), pieces(1, 1, 500).in("q"), pass(99), happens("end", 0), pass(2)},
		want:   "11@99:0 12@0:0"},
	{name: "so are gpus", nodes: "4/1", runs: []refJob{running(1, 0, 4, 100)},
		events: []event{pieces(1, 1, 50).with(1).together(), pieces(1, 1, 50).with(1).in("q").together(), pieces(1, 1, 50).in("q"),
			pass(10), happens("end", 0), pass(60)},
		want: "11@10:0 12@60:0 13@10:0", but: map[string]string{"fifo": "11@10:0 12@60:0 13@60:0"}},
	{name: "a short one goes ahead, a long one does not", nodes: "4 4", runs: []refJob{running(1, 0, 4, 20)},
		events: []event{wholes(2, 10).together(), wholes(1, 30).together(), wholes(1, 20), pass(20), happens("end", 0), pass(50)},
		want:   "11@20:0-1 12@30:0 13@0:1", but: map[string]string{"fifo": "11@20:0-1 12@30:0 13@30:1"}},
	{name: "one that comes in front", nodes: "4 4", runs: []refJob{running(1, 0, 4, 10)},
		events: []event{wholes(2, 10).together(), wholes(1, 20), pass(5), wholes(2, 10).at(20), pass(5), happens("end", 0), pass(40)},
		want:   "11@20:0-1 12@30:0 13@10:0-1"},
	// Job 12 has a reservation with conservative only: 13 would delay it.
	{name: "the second in the queue", nodes: "4 4", runs: []refJob{running(1, 0, 4, 20), running(2, 1, 2, 20)},
		events: []event{wholes(2, 10).together(), pieces(2, 4, 10).together(), pieces(1, 2, 35).together(), pieces(1, 2, 20), pass(10)},
		want:   "14@0:1", but: map[string]string{"fifo": ""}},
	// 12 takes the place that 11 was to have; 13, which came with it, is behind
	// 11 all the same.
	{name: "two that come together", nodes: "4 4 4", runs: []refJob{running(1, 0, 4, 44)},
		events: []event{wholes(3, 10), wholes(1, 60).at(30).together(), wholes(1, 500), pass(44), happens("end", 0), pass(40)},
		want:   "11@60:0-2 12@0:1 13@70:0"},
	{name: "fifo without reservations", nodes: "4 4 4 4", queues: map[string]refQueue{"p": {true, 0}},
		runs: []refJob{running(1, 0, 4, 10), running(2, 1, 4, 90)},
		events: []event{threes(3, 10).at(20), wholes(2, 20).in("p"), pieces(1, 1, 5).in("p"),
			pass(10), happens("end", 0), pass(20)},
		want: "11@10:0,2-3 12@20:0,2 13@20:3"},
	{name: "advance reservation", nodes: "4", events: []event{
		{what: "reserve", value: 20}, wholes(1, 15), wholes(1, 10), wholes(1, 10).inside("m1"), pass(50)},
		want: "11@0:0 12@30:0 13@20:0", but: map[string]string{"fifo": "11@0:0 12@30:0"}},
	{name: "the end of the instance moves", nodes: "4", runs: []refJob{running(1, 0, 4, 10)}, events: []event{
		{what: "instance", value: 50}, wholes(1, 0), {what: "instance", value: 100}, {what: "reserve", value: 60},
		pass(10), happens("end", 0), pass(70)},
		want: "11@70:0"},
	{name: "best", nodes: "4 4 2", match: "best", events: []event{pieces(1, 1, 10), pieces(2, 1, 10), pieces(1, 2, 10)},
		want: "11@0:2 12@0:0,2 13@0:0"},
	{name: "worst", nodes: "4 4 2", match: "worst", events: []event{pieces(1, 1, 10), pieces(1, 1, 10), pieces(4, 1, 10)},
		want: "11@0:0 12@0:1 13@0:0-1"},
}

func TestReferenceByHand(t *testing.T) {
	byHand(t, func(_ *testing.T, s story) side { return solo{s.reference()} })
}

func TestEngineByHand(t *testing.T) {
	byHand(t, func(t *testing.T, s story) side { return newUnderTest(t, s) })
}

func byHand(t *testing.T, of func(*testing.T, story) side) {
	for _, tt := range tables {
		for policy, q := range policies {
			t.Run(tt.name+"/"+policy, func(t *testing.T) {
				s := story{overdue: true, nodes: machine(tt.nodes), others: q, match: tt.match, queues: tt.queues, runs: tt.runs, events: tt.events}
				if s.match == "" {
					s.match = "first"
				}
				want, ok := tt.but[policy]
				if !ok {
					want = tt.want
				}
				w := newWorld(s, of(t, s))
				if err := w.play(); err != nil {
					t.Error(err)
				}
				sort.Strings(w.starts)
				if got := strings.Join(w.starts, " "); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}
