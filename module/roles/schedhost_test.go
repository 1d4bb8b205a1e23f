// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/module/roles"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
	"flux-burrow/t/embed"
)

// site is an instance with sched-burrow as its scheduler, and a witness of who
// holds what: a job from its alloc event until housekeeping is over, by rank.
type site struct {
	t     *testing.T
	in    *embed.Instance
	m     *embed.Module
	hooks bool
	holds map[embed.JobID]*holding
	hk    func(embed.JobID, int) time.Duration
}

type holding struct {
	set   *rv1reader.ResourceSet
	until map[int]time.Duration // ranks that housekeeping lets go of, and when
}

func newSite(t *testing.T, opts embed.Options, hooks bool) *site {
	s := &site{t: t, holds: map[embed.JobID]*holding{}}
	opts.NoScheduler = true
	opts.OnEvent = s.event
	opts.Housekeeping = func(id embed.JobID, rank int) time.Duration {
		var d time.Duration
		if s.hk != nil {
			d = s.hk(id, rank)
		}
		if h := s.holds[id]; h != nil {
			h.until[rank] = s.in.Elapsed() + d
		}
		return d
	}
	s.in = embed.New(opts)
	s.setHooks(hooks)
	s.load()
	s.in.Settle()
	return s
}

func (s *site) setHooks(on bool) {
	var err error
	if on && !s.hooks {
		_, err = s.in.LoadPlugin("burrow.so", "", roles.Hooks)
	} else if !on && s.hooks {
		err = s.in.RemovePlugin("burrow.so")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.hooks = on
}

func (s *site) load(args ...string) {
	var err error
	if s.m, err = s.in.LoadModule(0, "sched-burrow", args, roles.StartScheduler); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) reload(args ...string) {
	s.m.Unload()
	s.in.Settle()
	s.load(args...)
	s.in.Settle()
}

func (s *site) event(id embed.JobID, e embed.Event) {
	if e.Name != "alloc" {
		return
	}
	j, _ := s.in.Job(id)
	r, err := rv1reader.Read([]byte(j.R))
	if err != nil {
		s.t.Fatalf("R of %s: %s", embed.JobIDString(id), err)
	}
	for other, h := range s.holds {
		gone := &idset.Set{}
		for rank, at := range h.until {
			if at <= s.in.Elapsed() {
				gone.Add(rank)
			}
		}
		left := h.set.RemoveRanks(gone)
		if left.Empty() {
			delete(s.holds, other)
		} else if left.Overlaps(r.Set) {
			s.t.Fatalf("%s is given %s while %s holds %s", embed.JobIDString(id), r.Short(), embed.JobIDString(other), left)
		}
	}
	s.holds[id] = &holding{r.Set, map[int]time.Duration{}}
}

func (s *site) submit(spec embed.Jobspec) embed.JobID {
	id, err := s.in.Submit(spec)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *site) submitted(spec embed.Jobspec) embed.JobID {
	id := s.submit(spec)
	s.in.Advance(time.Second)
	return id
}

func (s *site) cancel(id embed.JobID) {
	if err := s.in.Cancel(id); err != nil {
		s.t.Fatal(err)
	}
	s.in.Advance(time.Second)
}

// want compares figures of the scheduler's report: path, figure, ...
func (s *site) want(pairs ...any) {
	s.t.Helper()
	text, err := s.in.RPC(0, 0, "sched-burrow.stats-get", "")
	if err != nil {
		s.t.Fatalf("%s; log:\n%s", err, s.log())
	}
	for i := 0; i < len(pairs); i += 2 {
		if got := gjson.Get(text, pairs[i].(string)).String(); got != fmt.Sprint(pairs[i+1]) {
			s.t.Fatalf("%s is %s, want %v", pairs[i], got, pairs[i+1])
		}
	}
}

// log is the end of the log.
func (s *site) log() string {
	var b strings.Builder
	list := s.in.Log()
	for _, l := range list[max(0, len(list)-30):] {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// runs fails unless a job runs on these ranks; "" for a job that waits.
func (s *site) runs(id embed.JobID, ranks string) {
	s.t.Helper()
	j, _ := s.in.Job(id)
	got := ""
	if j.State == embed.StateRun {
		got = fmt.Sprint(j.Ranks)
	}
	if got != ranks {
		s.t.Fatalf("%s is on ranks %q, want %q", embed.JobIDString(id), got, ranks)
	}
}

// end has all jobs end; nothing may be left of them.
func (s *site) end() {
	s.t.Helper()
	for _, id := range s.in.Active() {
		_ = s.in.Cancel(id) // it may have ended meanwhile
	}
	if !s.in.Run(s.in.Idle, 24*time.Hour) {
		for _, id := range s.in.Active() {
			s.t.Logf("%d: %v", id, s.in.Eventlog(id))
		}
		text, _ := s.in.RPC(0, 0, "sched-burrow.stats-get", "")
		s.t.Fatalf("jobs left: %v; report: %s; log:\n%s", s.in.Active(), text, s.log())
	}
	s.in.Advance(24 * time.Hour)
	s.want("state", "ready", "allocated", 0, "pending", 0, "nodes.fenced", 0)
	for _, l := range s.in.Log() {
		if l.From == "sched-burrow" && l.Level <= 4 {
			s.t.Errorf("%s", l.Text)
		}
	}
	s.in.Close()
	if p := s.in.Panics(); len(p) > 0 {
		s.t.Errorf("panics: %s", strings.Join(p, "; "))
	}
	if l := s.in.Leaks(); len(l) > 0 {
		s.t.Errorf("left: %s", strings.Join(l, "; "))
	}
}

// bothWays runs a test with R out of the job manager's memory and the KVS.
func bothWays(t *testing.T, f func(*testing.T, bool)) {
	for _, hooks := range []bool{true, false} {
		t.Run(fmt.Sprintf("hooks=%t", hooks), func(t *testing.T) { f(t, hooks) })
	}
}

func node(n int) embed.Jobspec {
	return embed.Jobspec{Nodes: n, Exclusive: true, Run: embed.Forever}
}

// Four jobs run on through a reload; a fifth waits for one of them.
func TestSchedulerReload(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		var jobs []embed.JobID
		for range 4 {
			jobs = append(jobs, s.submitted(node(1)))
		}
		s.reload()
		s.want("hello.recovered", 4, "hello.fenced", 0, "nodes.idle", 0)
		fifth := s.submitted(node(1))
		s.runs(fifth, "")
		s.cancel(jobs[2])
		s.runs(fifth, "[2]")
		s.runs(jobs[3], "[3]")
		s.end()
	})
}

// Housekeeping has let go of two of four nodes: the hello says so.
func TestSchedulerPartialRelease(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		s.hk = func(_ embed.JobID, rank int) time.Duration {
			return []time.Duration{time.Second, 2 * time.Second, time.Minute, time.Hour}[rank]
		}
		s.cancel(s.submitted(node(4)))
		s.in.Advance(10 * time.Second)
		s.want("nodes.idle", 2)
		s.reload()
		s.want("hello.recovered", 1, "hello.fenced", 0, "nodes.idle", 2)
		a, b := s.submitted(node(2)), s.submitted(node(2))
		s.runs(a, "[0 1]")
		s.runs(b, "")
		s.m.Unload() // rank 2 is let go of while nobody listens
		s.in.Advance(2 * time.Minute)
		s.load()
		s.in.Settle()
		s.want("hello.recovered", 2, "nodes.idle", 1)
		s.in.Advance(2 * time.Hour)
		s.runs(b, "[2 3]")
		s.end()
	})
}

// A drained node is given to nobody; the job on it runs on.
func TestSchedulerDrained(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 3, Cores: 4}, hooks)
		a := s.submitted(node(1))
		if _, err := s.in.RPC(0, 0, "resource.drain", `{"targets":"0-1","reason":"test"}`); err != nil {
			t.Fatal(err)
		}
		s.reload()
		s.want("hello.recovered", 1, "hello.fenced", 0, "nodes.up", 1, "nodes.idle", 1)
		b, c := s.submitted(node(1)), s.submitted(node(1))
		s.runs(a, "[0]")
		s.runs(b, "[2]")
		s.cancel(a)
		s.runs(c, "")
		if _, err := s.in.RPC(0, 0, "resource.undrain", `{"targets":"1"}`); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second)
		s.runs(c, "[1]")
		s.end()
	})
}

// What goes ahead of a job that waits depends on when a running one ends.
func TestSchedulerExtended(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		spec := node(2)
		spec.TimeLimit = 10 * time.Minute
		a := s.submitted(spec)
		if err := s.in.UpdateDuration(a, 7200); err != nil {
			t.Fatal(err)
		}
		s.in.Advance(time.Second) // the event is in the KVS
		s.reload("policy=easy")
		b := s.submitted(node(4))
		spec = node(1)
		spec.TimeLimit = time.Hour
		c := s.submitted(spec)
		spec.TimeLimit = 3 * time.Hour
		d := s.submitted(spec)
		s.runs(a, "[0 1]")
		s.runs(b, "")
		s.runs(c, "[2]") // would not, were the end the one of R
		s.runs(d, "")
		s.end()
	})
}

// The job manager tells nobody of a job that ends while no scheduler is loaded.
// Between hello and ready no virtual time passes here, and jobs take some to
// end: that gap is TestLostFrees of module/sched.
func TestSchedulerGoneMeanwhile(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		const jobs, gone = 1500, 200
		s := newSite(t, embed.Options{Size: jobs, Cores: 4, Topology: "kary:0"}, hooks)
		var ids []embed.JobID
		for range jobs {
			ids = append(ids, s.submit(node(1)))
		}
		s.in.Advance(time.Minute)
		s.want("allocated", jobs)
		s.m.Unload()
		for _, id := range ids[:gone] {
			s.in.Finish(id, 0)
		}
		s.in.Advance(time.Second)
		s.load()
		for range jobs { // the hello is on its way
			s.in.Step()
		}
		for _, id := range ids[gone : 2*gone] {
			s.in.Finish(id, 0)
		}
		s.in.Advance(time.Minute)
		s.want("hello.recovered", jobs-gone, "allocated", jobs-2*gone, "nodes.idle", 2*gone)
		s.end()
	})
}

// history is what may happen to a scheduler, in any order.
func history(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	size := 1 + rng.IntN(6)
	s := newSite(t, embed.Options{Size: size, Cores: 1 + rng.IntN(4), GPUs: rng.IntN(2), Seed: seed}, rng.IntN(2) == 0)
	s.hk = func(embed.JobID, int) time.Duration { return time.Duration(rng.IntN(5)) * time.Second }
	args := func() []string {
		return []string{
			"policy=" + []string{"fifo", "easy", "conservative"}[rng.IntN(3)],
			"match=" + []string{"first", "best", "worst"}[rng.IntN(3)],
			"queue-depth=" + []string{"unlimited", "1", "4"}[rng.IntN(3)],
		}
	}
	var ids []embed.JobID
	for range 60 {
		switch k := rng.IntN(12); {
		case k < 5:
			spec := embed.Jobspec{Run: time.Duration(rng.IntN(20000)) * time.Millisecond, Urgency: 1 + rng.IntN(31)}
			if rng.IntN(2) == 0 {
				spec.Nodes, spec.Exclusive = 1+rng.IntN(size), rng.IntN(2) == 0
			} else {
				spec.Slots = 1 + rng.IntN(size)
			}
			if rng.IntN(2) == 0 {
				spec.TimeLimit = time.Minute
			}
			ids = append(ids, s.submit(spec))
		case k < 7 && len(ids) > 0:
			s.in.Call(0, 0, "job-manager.raise", fmt.Sprintf(`{"id":%d,"type":"cancel","severity":0}`, ids[rng.IntN(len(ids))]), func(embed.Response) {})
		case k == 7 && len(ids) > 0:
			s.in.Call(0, 0, "job-manager.update", fmt.Sprintf(`{"id":%d,"updates":{"attributes.system.duration":600.0}}`, ids[rng.IntN(len(ids))]), func(embed.Response) {})
		case k == 8:
			s.in.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
		case k == 9:
			s.setHooks(!s.hooks)
		default:
			if rng.IntN(4) == 0 {
				s.m.Kill()
			} else {
				s.m.Unload()
			}
			// The broker sends the old one's disconnects before it loads another.
			s.in.Settle()
			if rng.IntN(2) == 0 {
				s.in.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
			}
			s.load(args()...)
		}
		for range rng.IntN(40) {
			s.in.Step()
		}
	}
	s.in.Advance(time.Minute)
	s.end()
}

func TestSchedulerHistories(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 30
	}
	for seed := uint64(1); seed <= n && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, seed) })
	}
}
