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
	q    queue.Queue
}

func newBench(t *testing.T) *bench {
	r, err := rv1reader.Read([]byte(plant))
	if err != nil {
		t.Fatal(err)
	}
	p := resource.New(rv1reader.NewInventory(r))
	p.SetUp(idset.NewRange(0, 9), true)
	return &bench{t: t, pool: p}
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
	b.q.Add(&queue.Job{ID: jobid.ID(id), Priority: priority, Request: req})
}

// run makes a pass and tells what it did: started jobs with ranks, then jobs
// that wait with their estimate.
func (b *bench) run(opt Options) string {
	res := Pass(b.pool, b.q.Jobs(), opt)
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
	for _, w := range res.Waiting {
		text := fmt.Sprintf("%d?", w.Job.ID)
		if w.Estimate > 0 {
			text += fmt.Sprint(w.Estimate)
		}
		out = append(out, text)
	}
	if err := b.pool.Verify(); err != nil {
		b.t.Error(err)
	}
	return strings.Join(out, " ")
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
			FIFO: "10?50", Easy: "11:8<10 10?50 12?", Conservative: "11:8<10 10?50 12?60"}},
		{"long ones that are not in the way", []waiting{{10, 3, 10, 16, ""}, {11, 1, 900, 16, ""}}, map[Kind]string{
			FIFO: "10?50", Easy: "11:9<10 10?50", Conservative: "11:9<10 10?50"}},
		{"of no limit", []waiting{{10, 10, 10, 16, ""}, {11, 1, 0, 16, ""}}, map[Kind]string{
			FIFO: "10?100", Easy: "10?100 11?", Conservative: "10?100 11?110"}},
		{"the second reservation holds too", []waiting{{10, 4, 100, 16, ""}, {11, 8, 100, 16, ""}, {12, 2, 160, 16, ""}}, map[Kind]string{
			FIFO: "10?50", Easy: "10?50 11? 12?", Conservative: "10?50 11?150 12?150"}},
		{"queues apart", []waiting{{10, 6, 10, 16, "a"}, {11, 1, 10, 15, "a"}, {12, 1, 10, 10, "b"}}, map[Kind]string{
			FIFO: "12:8 10?100", Easy: "12:8 10?100 11?", Conservative: "12:8 10?100 11?110"}},
		{"queues that share nodes", []waiting{{10, 6, 10, 16, "b"}, {12, 1, 10, 10, "a"}}, map[Kind]string{
			FIFO: "10?100 12?100", Easy: "10?100 12?100", Conservative: "10?100 12?100"}},
		{"impossible", []waiting{{10, 11, 10, 16, ""}, {11, 1, 10, 16, ""}}, map[Kind]string{
			FIFO: "11:8 10!", Easy: "11:8 10!", Conservative: "11:8 10!"}},
	}
	for _, tt := range tests {
		for k := FIFO; k <= Conservative; k++ {
			b := newBench(t)
			b.job(1, 6, 100, 1, "")
			b.run(Options{Now: 0})
			b.job(2, 2, 50, 1, "")
			b.run(Options{Now: 0})
			for _, j := range tt.jobs {
				b.job(j.id, j.nodes, j.duration, j.priority, j.queue)
			}
			// The times of the table count from the start of jobs 1 and 2.
			if got := b.run(Options{Kind: k, Now: 0, Forecast: true}); got != tt.want[k] {
				t.Errorf("%s, %s:\n got  %s\n want %s", tt.name, k, got, tt.want[k])
			}
		}
	}
}

// A job that nobody can tell the start of keeps others from overtaking it.
func TestNoEstimate(t *testing.T) {
	for k := FIFO; k <= Conservative; k++ {
		b := newBench(t)
		b.job(1, 6, 0, 1, "")
		b.run(Options{})
		b.job(10, 5, 10, 16, "")
		b.job(11, 1, 10, 16, "")
		if got := b.run(Options{Kind: k, Forecast: true}); got != "10?" {
			t.Errorf("%s: %s", k, got)
		}
	}
}

// A node that is down counts as there for what is possible, and not for what
// fits.
func TestDown(t *testing.T) {
	b := newBench(t)
	b.pool.SetUp(idset.New(3), false)
	b.job(10, 10, 10, 16, "")
	if got := b.run(Options{}); got != "10?" {
		t.Error(got)
	}
	b.pool.SetUp(idset.New(3), true)
	if got := b.run(Options{}); got != "10:0-9" {
		t.Error(got)
	}
}

// A job ends by the instance's end if it has no limit of its own.
func TestInstanceEnd(t *testing.T) {
	b := newBench(t)
	b.job(10, 1, 0, 16, "")
	b.job(11, 1, 30, 16, "")
	b.run(Options{Now: 1000, Expiration: 5000})
	if a, c := b.pool.Alloc(10).Expiration, b.pool.Alloc(11).Expiration; a != 5000 || c != 1030 {
		t.Errorf("expirations %f %f", a, c)
	}
}

func TestParse(t *testing.T) {
	for name, k := range kinds {
		if got, err := Parse(name); err != nil || got != k || k.String() != name {
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
			w := bench{pool: p}
			for i := range 4000 {
				w.job(i+1, 2, float64(1000+i), 16, "")
			}
			for w.q.Len() > 0 {
				for _, s := range Pass(p, w.q.Jobs(), Options{}).Started {
					w.q.Remove(s.Job.ID)
				}
			}
			for i := range 1000 {
				w.job(10000+i, 5000+i, 5000, 16, "")
			}
			for b.Loop() {
				if res := Pass(p, w.q.Jobs(), Options{Kind: k, Now: 1}); len(res.Started) > 0 {
					b.Fatal("a job started")
				}
			}
		})
	}
}
