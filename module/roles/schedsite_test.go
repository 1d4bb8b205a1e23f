// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
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
	// hellos and readies count what the job manager logged of a scheduler.
	hellos, readies int
	doubts          int // warnings of the scheduler that are meant to be
}

// anyDoubts as site.doubts: errors are none of them.
const anyDoubts = -1

type holding struct {
	set   *rv1reader.ResourceSet
	until map[int]time.Duration // ranks that housekeeping lets go of, and when
}

func newSite(t *testing.T, opts embed.Options, hooks bool) *site {
	s := &site{t: t, holds: map[embed.JobID]*holding{}}
	opts.NoScheduler = true
	opts.OnEvent = s.event
	opts.OnLog = func(l embed.LogLine) {
		if strings.HasPrefix(l.Text, "scheduler: hello") {
			s.hellos++
		} else if strings.HasPrefix(l.Text, "scheduler: ready") {
			s.readies++
		}
	}
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

func (s *site) load(args ...string) { s.start(args) }

func (s *site) start(args []string, opts ...embed.ModuleOption) {
	s.t.Helper()
	var err error
	if s.m, err = s.in.LoadModule(0, "sched-burrow", args, roles.StartScheduler, opts...); err != nil {
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
		s.t.Fatalf("R of %s: %s", jobid.ID(id).String(), err)
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
			s.t.Fatalf("%s is given %s while %s holds %s", jobid.ID(id).String(), r.Short(), jobid.ID(other).String(), left)
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
		s.t.Fatalf("%s is on ranks %q, want %q", jobid.ID(id).String(), got, ranks)
	}
}

// holding fails unless a job has this R, in short.
func (s *site) holding(id embed.JobID, short string) {
	s.t.Helper()
	j, _ := s.in.Job(id)
	r, err := rv1reader.Read([]byte(j.R))
	if err != nil || r.Short() != short {
		s.t.Fatalf("%s has %s (%v), want %s", jobid.ID(id).String(), j.R, err, short)
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
	var warnings []string
	for _, l := range s.in.Log() {
		if l.From == "sched-burrow" && l.Level <= 4 {
			if l.Level < 4 && s.doubts == anyDoubts {
				s.t.Error(l.Text)
			}
			warnings = append(warnings, l.Text)
		}
	}
	if len(warnings) != s.doubts && s.doubts != anyDoubts {
		s.t.Errorf("%d warnings, want %d:\n%s", len(warnings), s.doubts, strings.Join(warnings, "\n"))
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
