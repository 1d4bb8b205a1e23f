// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/jobspec"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// mixed has five kinds of nodes: cores not from 0, gpus, none at all.
const mixed = `{"version":1,"execution":{"R_lite":[
 {"rank":"0-1","children":{"core":"0-7"}},
 {"rank":"2","children":{"core":"0-3","gpu":"0-1"}},
 {"rank":"4","children":{"core":"2,4,6,8","gpu":"3"}},
 {"rank":"9","children":{"core":"0-15"}}],
 "starttime":0,"expiration":0,"nodelist":["a[0-1],g0,g2,fat"],
 "properties":{"gpu":"2,4","big":"9","+local":"0"}}}`

func pool(t testing.TB, r string) *Pool {
	t.Helper()
	parsed, err := rv1reader.Read([]byte(r))
	if err != nil {
		t.Fatal(err)
	}
	p := New(rv1reader.NewInventory(parsed))
	p.SetUp(parsed.Ranks, true)
	return p
}

func uniformR(n, cores int) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[{"rank":"0-%d","children":{"core":"0-%d","gpu":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["n[0-%d]"]}}`, n-1, cores-1, n-1)
}

func request(t testing.TB, resources, system string) *jobspec.Request {
	t.Helper()
	r, err := jobspec.Parse([]byte(`{"resources":[` + resources + `],"attributes":{"system":{"duration":0` + system + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func slots(n, with string) string {
	return fmt.Sprintf(`{"type":"slot","label":"t","count":%s,"with":[%s]}`, n, with)
}

func nodes(n string, exclusive bool, with string) string {
	return fmt.Sprintf(`{"type":"node","count":%s,"exclusive":%t,"with":[%s]}`, n, exclusive, with)
}

func cores(n string) string { return `{"type":"core","count":` + n + `}` }

const gpu = `,{"type":"gpu","count":1}`

func TestFind(t *testing.T) {
	tests := []struct {
		name, resources, system string
		want                    [3]string // first, best, worst; "" for no place
	}{
		{"one core", slots("1", cores("1")), "", [3]string{"rank0/core0", "rank2/core0", "rank9/core0"}},
		{"slots over nodes", slots("3", cores("5")), "", [3]string{"rank[0-1,9]/core[0-4]", "rank[0-1,9]/core[0-4]", "rank9/core[0-14]"}},
		{"with a gpu", slots("1", cores("1")+gpu), "", [3]string{"rank2/core0,gpu0", "rank2/core0,gpu0", "rank2/core0,gpu0"}},
		{"gpus on two nodes", slots("3", cores("1")+gpu), "", [3]string{"rank2/core[0-1],gpu[0-1] rank4/core2,gpu3", "rank2/core[0-1],gpu[0-1] rank4/core2,gpu3", "rank2/core[0-1],gpu[0-1] rank4/core2,gpu3"}},
		{"odd core ids", slots("1", cores("3")), `,"constraints":{"ranks":["4"]}`, [3]string{"rank4/core[2,4,6]", "rank4/core[2,4,6]", "rank4/core[2,4,6]"}},
		{"whole nodes", nodes("2", true, slots("1", cores("1"))), "", [3]string{"rank[0-1]/core[0-7]", "rank2/core[0-3],gpu[0-1] rank4/core[2,4,6,8],gpu3", "rank0/core[0-7] rank9/core[0-15]"}},
		{"nodes in part", nodes("2", false, slots("2", cores("2"))), "", [3]string{"rank[0-1]/core[0-3]", "rank2/core[0-3] rank4/core[2,4,6,8]", "rank[0,9]/core[0-3]"}},
		{"a range of nodes", nodes(`"2-4"`, false, slots("1", cores("8"))), "", [3]string{"rank[0-1,9]/core[0-7]", "rank[0-1,9]/core[0-7]", "rank[0-1,9]/core[0-7]"}},
		{"a stepped range", nodes(`"1-4:2:*"`, false, slots("1", cores("8"))), "", [3]string{"rank[0-1]/core[0-7]", "rank[0-1]/core[0-7]", "rank[0,9]/core[0-7]"}},
		{"as many slots as fit", slots(`"3+"`, cores("8")), "", [3]string{"rank[0-1]/core[0-7] rank9/core[0-15]", "rank[0-1]/core[0-7] rank9/core[0-15]", "rank[0-1]/core[0-7] rank9/core[0-15]"}},
		{"slots grow", nodes("2", false, slots(`"1-3"`, cores("2"))), `,"constraints":{"properties":["^gpu"]}`, [3]string{"rank[0-1]/core[0-5]", "rank[0-1]/core[0-5]", "rank[0,9]/core[0-5]"}},
		{"cores grow", slots("1", cores(`"2-100"`)), `,"constraints":{"properties":["big"]}`, [3]string{"rank9/core[0-15]", "rank9/core[0-15]", "rank9/core[0-15]"}},
		{"too many", slots("1", cores("17")), "", [3]string{}},
		{"too many gpus", slots("4", cores("1")+gpu), "", [3]string{}},
		{"by host", slots("1", cores("1")), `,"constraints":{"hostlist":["fat"]}`, [3]string{"rank9/core0", "rank9/core0", "rank9/core0"}},
	}
	for _, tt := range tests {
		for o := First; o <= Worst; o++ {
			p := pool(t, mixed)
			req := request(t, tt.resources, tt.system)
			pick, ok := p.Find(req, o, Scope{Within: p.Match(req.Constraint)})
			got := ""
			if ok {
				a, err := p.Book(1, pick, 0)
				if err != nil {
					t.Fatal(err)
				}
				got = p.R(a, 0).Short()
			}
			if got != tt.want[o] {
				t.Errorf("%s, %s: %q, want %q", tt.name, o, got, tt.want[o])
			}
			if err := p.Verify(); err != nil {
				t.Errorf("%s, %s: %s", tt.name, o, err)
			}
			feasible := p.Feasible(req, Scope{Within: p.Match(req.Constraint)})
			if (feasible == nil) != (tt.want[o] != "") {
				t.Errorf("%s: feasible says %v", tt.name, feasible)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	p := pool(t, mixed)
	p.SetUp(idset.New(0, 1, 9), false) // does not matter
	for _, tt := range []struct{ resources, system, want string }{
		{nodes("6", true, slots("1", cores("1"))), "", "unsatisfiable request: it needs 6 whole nodes with 1 core each; of the 5 nodes of the instance 5 fit"},
		{nodes("2", false, slots("2", cores("5"))), "", "unsatisfiable request: it needs 2 nodes with 10 cores each; of the 5 nodes of the instance 1 fit"},
		{slots("9", cores("4")+gpu), "", "unsatisfiable request: it needs 9 slots of 4 cores and 1 gpu each; the 5 nodes of the instance have room for 2"},
		{slots("1", cores("1")), `,"constraints":{"properties":["nosuch"]}`, `unsatisfiable request: no node matches the constraint {"properties":["nosuch"]}`},
		{slots("1", cores("5")), `,"constraints":{"properties":["gpu"]}`, `unsatisfiable request: it needs 1 slot of 5 cores each; the 2 nodes that match the constraint {"properties":["gpu"]} have room for 0`},
	} {
		req := request(t, tt.resources, tt.system)
		err := p.Feasible(req, Scope{Within: p.Match(req.Constraint)})
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// Nothing that is local to the instance gets into the R of a job.
func TestProperties(t *testing.T) {
	p := pool(t, mixed)
	pick, _ := p.Find(request(t, nodes("5", true, slots("1", cores("1"))), ""), First, Scope{})
	a, _ := p.Book(1, pick, 0)
	r := string(p.R(a, 5).Encode())
	if strings.Contains(r, "local") || !strings.Contains(r, `"big":"9"`) || !strings.Contains(r, `"gpu":"2,4"`) {
		t.Error(r)
	}
	if all := string(p.All().Encode()); !strings.Contains(all, "+local") {
		t.Error(all)
	}
	p.AddProperty("new", idset.New(1))
	p.RemoveProperty("big", idset.New(9, 77))
	p.RemoveProperty("nosuch", idset.New(9))
	p.Shrink(idset.New(4, 1000))
	if all := string(p.All().Encode()); strings.Contains(all, "big") || !strings.Contains(all, `"new":"1"`) || strings.Contains(all, `"gpu":"2,4"`) {
		t.Error(all)
	}
	if n := p.Tally(); n.All != 4 || n.Up != 4 || n.Idle != 0 {
		t.Errorf("%+v", n)
	}
}

// Any series of bookings, frees and changes keeps the sums right; the other
// half of the properties is in package sched.
func TestAnySeries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := pool(t, mixed)
		next := jobid.ID(1)
		var live []jobid.ID
		ranks := func(label string) *idset.Set {
			return idset.New(rapid.SliceOfN(rapid.IntRange(0, 10), 1, 3).Draw(rt, label)...)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				if err := p.Verify(); err != nil {
					rt.Fatal(err)
				}
			},
			"book": func(rt *rapid.T) {
				k := fmt.Sprint(rapid.IntRange(1, 4).Draw(rt, "n"))
				res := rapid.SampledFrom([]string{slots(k, cores("1")), slots(k, cores("2")+gpu), nodes(k, true, slots("1", cores("1"))), nodes(`"1-`+k+`"`, false, slots("1", cores("2")))}).Draw(rt, "request")
				if pick, ok := p.Find(request(t, res, ""), Order(rapid.IntRange(0, 2).Draw(rt, "order")), Scope{}); ok {
					if _, err := p.Book(next, pick, 0); err != nil {
						rt.Fatal(err)
					}
					live = append(live, next)
					next++
				}
			},
			"restore": func(*rapid.T) { // whatever it overlaps
				r, _ := rv1reader.Read(fmt.Appendf(nil, `{"version":1,"execution":{"R_lite":[{"rank":"%d","children":{"core":"0-5","gpu":"0"}}],"starttime":0,"expiration":0,"nodelist":["a1"]}}`, rapid.IntRange(0, 10).Draw(rt, "rank")))
				if _, err := p.Restore(next, p.Inventory().Map(r), nil, 0); err != nil {
					rt.Fatal(err)
				}
				live = append(live, next)
				next++
			},
			"free": func(rt *rapid.T) {
				if len(live) > 0 {
					i := rapid.IntRange(0, len(live)-1).Draw(rt, "job")
					p.Free(live[i])
					live = append(live[:i], live[i+1:]...)
				}
			},
			"part": func(rt *rapid.T) {
				if len(live) > 0 {
					p.FreeRanks(rapid.SampledFrom(live).Draw(rt, "job"), ranks("ranks"))
				}
			},
			"up": func(rt *rapid.T) { p.SetUp(ranks("ranks"), rapid.Bool().Draw(rt, "up")) },
			"fence": func(rt *rapid.T) {
				if _, err := p.RestoreFenced(next, ranks("ranks")); err != nil {
					rt.Fatal(err)
				}
				live = append(live, next)
				next++
			},
		})
		for _, id := range live {
			p.Free(id)
		}
		p.SetUp(idset.NewRange(0, 10), true)
		if n := p.Tally(); n.Idle != 5 || n.Fenced != 0 {
			rt.Fatalf("after the last free %+v", n)
		}
	})
}

func BenchmarkAlloc11136(b *testing.B) {
	for _, tt := range []struct {
		name, resources string
		busy            bool
	}{
		{"one-node", nodes("1", true, slots("1", cores("1"))), false},
		{"one-core", slots("1", cores("1")), false},
		{"one-node-last-free", nodes("1", true, slots("1", cores("1"))), true},
		{"128-nodes", nodes("128", true, slots("1", cores("1"))), false},
		{"all-nodes", nodes("11136", true, slots("1", cores("1"))), false},
	} {
		for o := First; o <= Worst; o++ {
			b.Run(tt.name+"/"+o.String(), func(b *testing.B) {
				p := pool(b, uniformR(11136, 96))
				if tt.busy {
					pick, _ := p.Find(request(b, nodes("11135", true, slots("1", cores("1"))), ""), First, Scope{})
					_, _ = p.Book(1, pick, 0)
				}
				req := request(b, tt.resources, "")
				for b.Loop() {
					pick, ok := p.Find(req, o, Scope{})
					if !ok {
						b.Fatal("no place")
					}
					_, _ = p.Book(2, pick, 0)
					p.Free(2)
				}
			})
		}
	}
}
