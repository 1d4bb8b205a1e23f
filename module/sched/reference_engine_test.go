// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// underTest is the engine as a side: a story goes to it by the protocol.
type underTest struct {
	*fakeFlux
	machine *story            // as it is by now
	seen    map[jobid.ID]bool // starts and denials that were reported
}

func newUnderTest(t testing.TB, s story) *underTest {
	s.nodes = s.reference().nodes
	u := &underTest{newFakeFlux(t, s.inventory()), &s, map[jobid.ID]bool{}}
	u.config = s.config()
	u.hooks = true
	for i := range s.runs {
		u.adopt(&s.runs[i])
	}
	for n, node := range s.nodes {
		if !node.up {
			u.up.Remove(n)
		}
	}
	u.begin()
	return u
}

// begin loads the engine. In a story in which jobs outlive their limits it makes
// no estimates: these look at the future too, and when that was first done
// decides how much longer such a job is taken to last.
func (u *underTest) begin() {
	u.load()
	if u.machine.overdue {
		u.engine.slow = &fakeTimer{dead: true}
	}
}

// kind is the policy that does what is meant.
func (q refQueue) kind() policy.Kind {
	switch {
	case q.fifo:
		return policy.FIFO
	case q.depth == 1:
		return policy.Easy
	}
	return policy.Conservative
}

// config is what the engine is to do as the story says.
func (s *story) config() Config {
	c := DefaultConfig()
	c.Policy, c.Depth, c.LogLevel = s.others.kind(), s.others.depth, Debug
	c.Match, _ = resource.ParseOrder(s.match)
	c.NodeExclusive.Properties = []string{"w"}
	c.Queues = map[string]QueueConfig{}
	for name, q := range s.queues {
		kind, depth := q.kind(), q.depth
		c.Queues[name] = QueueConfig{Policy: &kind, Depth: &depth}
	}
	return c
}

// inventory is the R of the story's machine.
func (s *story) inventory() string {
	lite := make([]string, len(s.nodes))
	props := map[string]*idset.Set{}
	for n, node := range s.nodes {
		lite[n] = part(n, node.room)
		has := maps.Clone(node.props)
		has["w"] = node.whole
		for name, on := range has {
			if on {
				if props[name] == nil {
					props[name] = &idset.Set{}
				}
				props[name].Add(n)
			}
		}
	}
	var named []string
	for name, set := range props {
		named = append(named, fmt.Sprintf("%q:%q", name, text(set)))
	}
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[%s],"starttime":0,"expiration":%.0f,"nodelist":["%s"],"properties":{%s}}}`,
		strings.Join(lite, ","), s.ends, hosts(len(s.nodes)), strings.Join(named, ","))
}

func hosts(n int) string {
	if n == 1 {
		return "n0"
	}
	return fmt.Sprintf("n[0-%d]", n-1)
}

// part is so much of a node, for R.
func part(n int, r room) string {
	gpus := ""
	if r.gpus > 0 {
		gpus = fmt.Sprintf(`,"gpu":"%s"`, text(idset.NewRange(0, r.gpus-1)))
	}
	return fmt.Sprintf(`{"rank":"%d","children":{"core":"%s"%s}}`, n, text(idset.NewRange(0, r.cores-1)), gpus)
}

// adopt makes a job that ran before the engine was there. One that fences nodes
// has no R that anybody could read; job-list knows its ranks.
func (u *underTest) adopt(j *refJob) {
	lite, names := []string{}, []string{}
	for n := range 64 {
		h, held := j.holds[n]
		if j.fences[n] {
			h, held = room{1, 0}, true
		}
		if held {
			lite = append(lite, part(n, h))
			names = append(names, fmt.Sprintf("%q", fmt.Sprint("n", n)))
		}
	}
	raw := fmt.Sprintf(`{"version":1,"execution":{"R_lite":[%s],"starttime":0,"expiration":%.0f,"nodelist":[%s]}}`,
		strings.Join(lite, ","), j.expiration, strings.Join(names, ","))
	r, err := rv1reader.Read([]byte(raw))
	if err != nil {
		u.t.Fatal(err)
	}
	job := &fakeJob{id: j.id, priority: 16, running: true, r: r, text: raw, freed: &idset.Set{}}
	if len(j.fences) > 0 {
		job.text = ""
	}
	u.kvs[j.id.Key("R")] = job.text
	u.jobs[j.id] = job
	u.seen[j.id] = true
}

// spec is the jobspec of a job.
func (j *refJob) spec() string {
	count := func(least int) string {
		if j.most > least {
			return fmt.Sprintf(`{"min":%d,"max":%d}`, least, j.most)
		}
		return fmt.Sprint(least)
	}
	with := fmt.Sprintf(`{"type":"core","count":%d}`, j.cores)
	if j.gpus > 0 {
		with += fmt.Sprintf(`,{"type":"gpu","count":%d}`, j.gpus)
	}
	slots := count(j.slots)
	if j.nodes > 0 {
		slots = fmt.Sprint(j.slots)
	}
	resources := fmt.Sprintf(`{"type":"slot","count":%s,"label":"t","with":[%s]}`, slots, with)
	if j.nodes > 0 {
		resources = fmt.Sprintf(`{"type":"node","count":%s,"exclusive":%t,"with":[%s]}`, count(j.nodes), j.whole, resources)
	}
	var system []string
	if j.queue != "" {
		system = append(system, fmt.Sprintf(`"queue":%q`, j.queue))
	}
	if j.needs != "" {
		system = append(system, fmt.Sprintf(`"constraints":{"properties":[%q]}`, j.needs))
	}
	if j.block != "" {
		system = append(system, fmt.Sprintf(`"burrow":{"reservation":%q}`, j.block))
	}
	return spec(resources, j.limit, strings.Join(system, ","))
}

// deliver lets the engine have what was sent, before anything else: what comes
// in one turn comes in the order of the story.
func (u *underTest) deliver() {
	for _, line := range []string{"from-job-manager", "from-resource"} {
		for len(u.lines[line]) > 0 {
			f := u.lines[line][0]
			u.lines[line] = u.lines[line][1:]
			f()
		}
		u.drop(line)
	}
}

func (u *underTest) submit(j refJob) {
	u.jobs[j.id] = &fakeJob{id: j.id, spec: j.spec(), priority: j.priority, freed: &idset.Set{}}
	u.sendAlloc(u.jobs[j.id])
}

func (u *underTest) cancel(id jobid.ID) { u.end(u.jobs[id]) }
func (u *underTest) free(id jobid.ID)   { u.end(u.jobs[id]) }

func (u *underTest) freeNode(id jobid.ID, n int) { u.endRanks(u.jobs[id], idset.New(n)) }

func (u *underTest) prioritize(id jobid.ID, priority int) {
	u.jobs[id].priority = priority
	u.toSched("sched.prioritize", fmt.Sprintf(`{"jobs":[[%d,%d]]}`, id, priority), nil)
}

func (u *underTest) expire(id jobid.ID, at float64) {
	if j := u.jobs[id]; j.text != "" {
		u.extend(j, at)
		return
	}
	u.toSched("sched.expiration", fmt.Sprintf(`{"id":%d,"expiration":%.0f}`, id, at), nil)
}

func (u *underTest) setUp(n int, up bool) {
	key := map[bool]string{true: "up", false: "down"}[up]
	if up {
		u.up.Add(n)
	} else {
		u.up.Remove(n)
	}
	u.change(fmt.Sprintf(`{"%s":"%d"}`, key, n))
}

func (u *underTest) shrink(n int) { u.change(fmt.Sprintf(`{"shrink":"%d"}`, n)) }

func (u *underTest) property(n int, name string, on bool) {
	key := map[bool]string{true: "add", false: "remove"}[on]
	u.machine.nodes[n].props[name] = on
	u.change(fmt.Sprintf(`{"property-%s":{"%s":"%d"}}`, key, name, n))
}

func (u *underTest) reserve(b refBlock) {
	nodes := &idset.Set{}
	for n := range b.nodes {
		nodes.Add(n)
	}
	u.toSched("reserve-add", fmt.Sprintf(`{"name":%q,"nodes":%q,"start":%.0f,"duration":%.0f,"users":[%s]}`,
		b.name, text(nodes), b.start, b.end-b.start, map[bool]string{true: "0"}[b.open]), u.mustWork)
}

func (u *underTest) unreserve(name string) {
	u.toSched("reserve-remove", fmt.Sprintf(`{"name":%q}`, name), u.mustWork)
}

func (u *underTest) mustWork(_ string, err error) {
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *underTest) instance(at float64) {
	u.machine.ends = at
	u.change(fmt.Sprintf(`{"expiration":%.0f}`, at))
}

func (u *underTest) reload() {
	u.unload()
	u.inventory = u.machine.inventory()
	u.begin()
}

func (u *underTest) settle(now float64, passed func()) (got []string) {
	u.now = now
	passes := u.engine.stats.count.Passes
	for i := 0; u.step(); i++ {
		for n := u.engine.stats.count.Passes; passes < n; passes++ {
			passed()
		}
		if i > 100_000 {
			u.t.Fatal("the engine does not come to rest")
		}
	}
	if u.stopped {
		u.t.Fatalf("the engine stopped: %v", u.stopErr)
	}
	u.verify()
	for _, id := range u.ids() {
		j := u.jobs[id]
		switch {
		case u.seen[id]:
		case j.denied != "":
			got = append(got, fmt.Sprintf("deny %d", id))
			u.seen[id] = true
		case j.r != nil:
			got = append(got, "start "+j.inWords())
			u.seen[id] = true
		}
	}
	return got
}

// inWords is what refJob.text gives.
func (j *fakeJob) inWords() string {
	own := refJob{id: j.id, holds: map[int]room{}, expiration: j.r.Expiration}
	for rank, c := range j.r.Set.All() {
		own.holds[rank] = room{c.Cores().Count(), c.GPUs().Count()}
	}
	return own.text()
}

// next is the first of the engine's timers.
func (u *underTest) next() float64 {
	next := math.Inf(1)
	for _, t := range u.timers {
		if !t.dead {
			next = min(next, t.at)
		}
	}
	return next
}
