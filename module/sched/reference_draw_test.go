// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"pgregory.net/rapid"

	"flux-burrow/hooks/jobid"
)

// Policies with their default depths.
const all = 1 << 30

var policies = map[string]refQueue{"fifo": {true, 1}, "easy": {false, 1}, "conservative": {false, all}}

// stories draws a machine, what runs on it, and what happens: so many things at
// least.
func stories(least int) *rapid.Generator[story] {
	return rapid.Custom(func(t *rapid.T) story { return drawStory(t, least) })
}

func drawStory(t *rapid.T, least int) story {
	var s story
	name := rapid.SampledFrom([]string{"fifo", "easy", "conservative"})
	s.others = policies[name.Draw(t, "policy")]
	if rapid.Bool().Draw(t, "a policy for p") {
		s.queues = map[string]refQueue{"p": policies[name.Draw(t, "of p")]}
		if rapid.Bool().Draw(t, "a depth for p") {
			s.queues["p"] = refQueue{s.queues["p"].fifo, rapid.IntRange(0, 3).Draw(t, "depth of p")}
		}
	}
	s.match = rapid.SampledFrom([]string{"first", "last", "best", "worst"}).Draw(t, "match")
	s.overdue = rapid.Bool().Draw(t, "overdue")
	whole := rapid.IntRange(0, 3).Draw(t, "whole nodes") == 3
	if rapid.IntRange(0, 4).Draw(t, "ends") == 4 {
		s.ends = epoch + 600
	}
	for n := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		s.nodes = append(s.nodes, drawNode(t))
		s.nodes[n].whole = whole && rapid.Bool().Draw(t, "whole")
		drawRunning(t, &s, n)
	}
	s.events = rapid.SliceOfN(rapid.Custom(drawEvent), least, 60).Draw(t, "events")
	return s
}

func drawNode(t *rapid.T) refNode {
	return refNode{
		room:  room{rapid.IntRange(1, 4).Draw(t, "cores"), rapid.IntRange(0, 2).Draw(t, "gpus")},
		up:    true,
		props: map[string]bool{"a": rapid.Bool().Draw(t, "a"), "b": rapid.Bool().Draw(t, "b")},
	}
}

// drawRunning may put a job on a node that was there before.
func drawRunning(t *rapid.T, s *story, n int) {
	kind := rapid.IntRange(0, 7).Draw(t, "there")
	j := refJob{id: jobid.ID(n + 1), running: true, expiration: epoch + float64(rapid.IntRange(1, 4).Draw(t, "until")*10)}
	switch kind {
	case 7: // nobody knows what it holds
		j.fences, j.expiration = map[int]bool{n: true}, 0
	case 6, 5:
		j.holds = map[int]room{n: {s.nodes[n].room.cores, 0}}
	default:
		return
	}
	s.runs = append(s.runs, j)
}

func drawJob(t *rapid.T) refJob {
	j := refJob{
		priority: rapid.SampledFrom([]int{16, 16, 16, 16, 17, 15, 30, 0}).Draw(t, "priority"),
		queue:    rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "queue"),
		needs:    rapid.SampledFrom([]string{"", "", "", "a", "^a", "b"}).Draw(t, "needs"),
		slots:    rapid.IntRange(1, 3).Draw(t, "slots"),
		cores:    rapid.IntRange(1, 3).Draw(t, "cores"),
		gpus:     max(0, rapid.IntRange(-2, 1).Draw(t, "gpus")),
		limit:    float64(rapid.SampledFrom([]int{10, 20, 5, 30, 40, 15, 0}).Draw(t, "limit")),
		late:     rapid.Bool().Draw(t, "late"),
	}
	if rapid.IntRange(0, 7).Draw(t, "inside") == 7 {
		j.block = rapid.SampledFrom([]string{"m1", "m2", "m3"}).Draw(t, "block")
	}
	if rapid.Bool().Draw(t, "by node") {
		j.nodes = rapid.IntRange(1, 4).Draw(t, "count")
		j.slots = rapid.IntRange(1, 2).Draw(t, "per node")
		j.whole = rapid.Bool().Draw(t, "whole")
	}
	if rapid.IntRange(0, 9).Draw(t, "range") == 9 {
		j.most = max(j.nodes, j.slots) + 2
	}
	switch rapid.IntRange(0, 3).Draw(t, "lasts") {
	case 0:
		j.lasts = j.limit
	case 1:
		j.lasts = max(j.limit-3, 0)
	case 2:
		j.lasts = j.limit + float64(rapid.IntRange(1, 10).Draw(t, "over"))
	}
	return j
}

func drawEvent(t *rapid.T) event {
	e := event{
		what: rapid.SampledFrom([]string{"submit", "submit", "submit", "submit", "submit", "submit", "wait", "wait", "wait",
			"end", "end", "cancel", "priority", "extend", "part", "node", "node", "shrink", "property", "instance", "reload", "reserve"}).Draw(t, "what"),
		pick:  rapid.IntRange(0, 20).Draw(t, "pick"),
		value: rapid.IntRange(1, 30).Draw(t, "value"),
		more:  rapid.IntRange(0, 4).Draw(t, "more") == 4,
	}
	switch e.what {
	case "submit":
		e.job = drawJob(t)
	case "extend":
		e.value -= 5
	case "instance":
		e.value *= 50
	case "reserve":
		if e.pick > 10 {
			e.what = "unreserve"
		}
	case "shrink":
		e.what = "node"
		if e.pick > 15 {
			e.what = "shrink"
		}
	}
	return e
}
