// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// plant is ten nodes; a-nodes are 0-5, b-nodes 4-9.
const plant = `{"version":1,"execution":{"R_lite":[{"rank":"0-9","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["n[0-9]"],"properties":{"a":"0-5","b":"4-9"}}}`

type bench struct {
	t    *testing.T
	pool *resource.Pool
	plan *Plan
	q    queue.Queue
}

func newBench(t *testing.T) *bench {
	r, err := rv1reader.Read([]byte(plant))
	if err != nil {
		t.Fatal(err)
	}
	p := resource.New(rv1reader.NewInventory(r))
	p.SetUp(idset.NewRange(0, 9), true)
	return &bench{t: t, pool: p, plan: NewPlan(p)}
}

// job adds a job: nodes, whole; duration; priority; queue (with the property of
// its name as constraint), "" for none.
func (b *bench) job(id, nodes int, duration float64, priority int64, name string) {
	system := ""
	if name != "" {
		system = fmt.Sprintf(`,"queue":%q,"constraints":{"properties":[%q]}`, name, name)
	}
	req, err := jobspec.Parse(fmt.Appendf(nil, `{"resources":[{"type":"node","count":%d,"exclusive":true,"with":[{"type":"slot","label":"t","count":1,"with":[{"type":"core","count":1}]}]}],"attributes":{"system":{"duration":%g%s}}}`, nodes, duration, system))
	if err != nil {
		b.t.Fatal(err)
	}
	b.q.Add(&queue.Job{ID: jobid.ID(id), Priority: priority, Shape: b.q.Shape(req, 0)})
}

// slots adds a job of slots of one core.
func (b *bench) slots(id, n int, duration float64, priority int64) {
	req, err := jobspec.Parse(fmt.Appendf(nil, `{"resources":[{"type":"slot","label":"t","count":%d,"with":[{"type":"core","count":1}]}],"attributes":{"system":{"duration":%g}}}`, n, duration))
	if err != nil {
		b.t.Fatal(err)
	}
	b.q.Add(&queue.Job{ID: jobid.ID(id), Priority: priority, Shape: b.q.Shape(req, 0)})
}

// run makes a pass and tells what it did: started jobs with ranks, then jobs
// that wait with their estimate.
func (b *bench) run(k Kind, now float64) string {
	b.plan.Loosen()
	opt := rules(k)
	opt.Now = now
	ps := b.plan.Begin(&b.q, nil, opt)
	ps.Step(func() bool { return false })
	res := ps.Result
	var out []string
	for _, s := range res.Started {
		text := fmt.Sprintf("%d:%s", s.Job.ID, b.pool.R(s.Alloc, 0).Set.Ranks())
		if s.Around != nil {
			text += fmt.Sprintf("<%d", s.Around.ID)
		}
		out = append(out, text)
		b.q.Remove(s.Job.ID)
	}
	for _, d := range res.Denied {
		out = append(out, fmt.Sprintf("%d!", d.Job.ID))
		b.q.Remove(d.Job.ID)
	}
	b.plan.Loosen()
	b.plan.Forecast(&b.q, opt, func() bool { return false }, func(*queue.Job, float64) {})
	for _, j := range b.q.Jobs() {
		if j.Priority == queue.Held {
			continue
		}
		text := fmt.Sprintf("%d?", j.ID)
		if r := b.plan.of[j.ID]; r != nil && b.plan.known(r.Start) {
			text += fmt.Sprint(r.Start)
		}
		if why, _ := b.plan.Why(j); why == WhyParked {
			text += "parked"
		}
		out = append(out, text)
	}
	if err := b.pool.Verify(); err != nil {
		b.t.Error(err)
	}
	return strings.Join(out, " ")
}

// rules are the options with one policy for all queues.
func rules(k Kind) Options {
	return Options{Rule: func(string) Rule { return Rule{k, Depth(k, DepthDefault)} }}
}

type waiting struct {
	id, nodes int
	duration  float64
	priority  int64
	queue     string
}

func TestPolicies(t *testing.T) {
	// Job 1 has nodes 0-5 until 100, job 2 has 6-7 until 50, both unknown to
	// the queue; 8-9 are free.
	tests := []struct {
		name string
		jobs []waiting
		want map[Kind]string
	}{
		{"order of priority, then of age", []waiting{{11, 1, 10, 16, ""}, {12, 1, 10, 20, ""}, {10, 1, 10, 16, ""}}, map[Kind]string{
			FIFO: "12:8 10:9 11?10", Easy: "12:8 10:9 11?10", Conservative: "12:8 10:9 11?10"}},
		{"held", []waiting{{10, 1, 10, 0, ""}, {11, 1, 10, 1, ""}}, map[Kind]string{
			FIFO: "11:8", Easy: "11:8", Conservative: "11:8"}},
		{"short ones go ahead", []waiting{{10, 4, 10, 16, ""}, {11, 1, 40, 16, ""}, {12, 1, 60, 16, ""}}, map[Kind]string{
			FIFO: "10?50 11? 12?", Easy: "11:8<10 10?50 12?", Conservative: "11:8<10 10?50 12?60"}},
		{"long ones that are not in the way", []waiting{{10, 3, 10, 16, ""}, {11, 1, 900, 16, ""}}, map[Kind]string{
			FIFO: "10?50 11?", Easy: "11:9<10 10?50", Conservative: "11:9<10 10?50"}},
		{"of no limit", []waiting{{10, 10, 10, 16, ""}, {11, 1, 0, 16, ""}}, map[Kind]string{
			FIFO: "10?100 11?", Easy: "10?100 11?", Conservative: "10?100 11?110"}},
		{"the second reservation holds too", []waiting{{10, 4, 100, 16, ""}, {11, 8, 100, 16, ""}, {12, 2, 160, 16, ""}}, map[Kind]string{
			FIFO: "10?50 11? 12?", Easy: "10?50 11? 12?", Conservative: "10?50 11?150 12?150"}},
		{"queues apart", []waiting{{10, 6, 10, 16, "a"}, {11, 1, 10, 15, "a"}, {12, 1, 10, 10, "b"}}, map[Kind]string{
			FIFO: "12:8 10?100 11?", Easy: "12:8 10?100 11?", Conservative: "12:8 10?100 11?110"}},
		{"queues that share nodes", []waiting{{10, 6, 10, 16, "b"}, {12, 1, 10, 10, "a"}}, map[Kind]string{
			FIFO: "10?100 12?100", Easy: "10?100 12?100", Conservative: "10?100 12?100"}},
		{"impossible", []waiting{{10, 11, 10, 16, ""}, {11, 1, 10, 16, ""}}, map[Kind]string{
			FIFO: "11:8 10!", Easy: "11:8 10!", Conservative: "11:8 10!"}},
	}
	for _, tt := range tests {
		for k := FIFO; k <= Conservative; k++ {
			b := newBench(t)
			b.job(1, 6, 100, 1, "")
			b.run(FIFO, 0)
			b.job(2, 2, 50, 1, "")
			b.run(FIFO, 0)
			for _, j := range tt.jobs {
				b.job(j.id, j.nodes, j.duration, j.priority, j.queue)
			}
			// The times of the table count from the start of jobs 1 and 2.
			if got := b.run(k, 0); got != tt.want[k] {
				t.Errorf("%s, %s:\n got  %s\n want %s", tt.name, k, got, tt.want[k])
			}
		}
	}
}

// A job without a limit is in the way of one that needs its nodes: that one has
// no estimate, and short jobs run beside it under all but fifo. So do others
// without a limit, as nobody knows which ends first.
func TestNoEstimate(t *testing.T) {
	want := map[Kind]string{FIFO: "10? 11? 12?", Easy: "11:6<10 12:7<10 10?", Conservative: "11:6<10 12:7<10 10?"}
	for k := FIFO; k <= Conservative; k++ {
		b := newBench(t)
		b.job(1, 6, 0, 1, "")
		b.run(FIFO, 0)
		b.job(10, 5, 10, 16, "")
		b.job(11, 1, 10, 16, "")
		b.job(12, 1, 0, 16, "")
		if got := b.run(k, 0); got != want[k] {
			t.Errorf("%s: %s", k, got)
		}
	}
}

// A job that needs a node that is down is parked: it keeps back nobody, and has
// its place by priority when the node is up again.
func TestDown(t *testing.T) {
	for k := FIFO; k <= Conservative; k++ {
		b := newBench(t)
		b.pool.SetUp(idset.New(3), false)
		b.job(10, 10, 10, 16, "")
		b.job(11, 2, 10, 15, "")
		if got := b.run(k, 0); got != "11:0-1<10 10?parked" && got != "11:0-1 10?parked" {
			t.Error(k, got)
		}
		b.pool.Free(11)
		b.pool.SetUp(idset.New(3), true)
		b.job(12, 1, 10, 15, "")
		if got := b.run(k, 1); got != "10:0-9 12?11" {
			t.Error(k, got)
		}
	}
}

// A job past its limit is taken to last as long again as it is overdue.
func TestOverdue(t *testing.T) {
	b := newBench(t)
	b.job(1, 1, 10, 1, "")
	b.run(Easy, 0)
	b.job(10, 10, 10, 16, "")
	b.job(11, 1, 20, 16, "")
	for _, at := range []struct {
		now  float64
		want string
	}{{5, "10?10 11?"}, {10, "10?11 11?"}, {10.5, "10?11 11?"}, {11, "10?12 11?"}, {14, "10?18 11?"}, {30, "11:1<10 10?50"}} {
		if got := b.run(Easy, at.now); got != at.want {
			t.Errorf("at %g: %s, want %s", at.now, got, at.want)
		}
	}
}

// A request for cores reserves cores: the rest of the node is for others.
func TestReservesCores(t *testing.T) {
	for _, k := range []Kind{Easy, Conservative} {
		b := newBench(t)
		b.slots(1, 38, 100, 1)
		b.run(k, 0)
		b.slots(10, 4, 100, 16) // 2 of its 4 cores are free
		b.slots(11, 1, 200, 16) // would take one of these
		b.slots(12, 1, 100, 16)
		if got := b.run(k, 0); !strings.HasPrefix(got, "11:9<10 12:9<10 10?100") {
			t.Errorf("%s: %s", k, got)
		}
	}
}

// A job ends by the instance's end if it has no limit of its own.
func TestInstanceEnd(t *testing.T) {
	b := newBench(t)
	b.job(10, 1, 0, 16, "")
	b.job(11, 1, 30, 16, "")
	opt := rules(FIFO)
	opt.Now, opt.Expiration = 1000, 5000
	b.plan.Begin(&b.q, nil, opt).Step(func() bool { return false })
	if a, c := b.pool.Alloc(10).Expiration, b.pool.Alloc(11).Expiration; a != 5000 || c != 1030 {
		t.Errorf("expirations %f %f", a, c)
	}
}

func TestParse(t *testing.T) {
	for i, name := range kindNames {
		if got, err := Parse(name); err != nil || got != Kind(i) || got.String() != name {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if _, err := Parse("lifo"); err == nil {
		t.Error("lifo is taken")
	}
}

func BenchmarkPass(b *testing.B) {
	for k := FIFO; k <= Conservative; k++ {
		b.Run(k.String(), func(b *testing.B) {
			r, err := rv1reader.Read([]byte(`{"version":1,"execution":{"R_lite":[{"rank":"0-11135","children":{"core":"0-95"}}],"starttime":0,"expiration":0,"nodelist":["n[0-11135]"]}}`))
			if err != nil {
				b.Fatal(err)
			}
			p := resource.New(rv1reader.NewInventory(r))
			p.SetUp(idset.NewRange(0, 11135), true)
			w := bench{pool: p, plan: NewPlan(p)}
			for i := range 4000 {
				w.job(i+1, 2, float64(1000+i), 16, "")
			}
			pass := func(now float64) []Started {
				opt := rules(k)
				opt.Now = now
				ps := w.plan.Begin(&w.q, nil, opt)
				ps.Step(func() bool { return false })
				return ps.Started
			}
			for w.q.Len() > 0 {
				for _, s := range pass(0) {
					w.q.Remove(s.Job.ID)
				}
			}
			for i := range 1000 {
				w.job(10000+i, 5000+i, 5000, 16, "")
			}
			for b.Loop() {
				w.plan.Loosen()
				if len(pass(1)) > 0 {
					b.Fatal("a job started")
				}
			}
		})
	}
}
