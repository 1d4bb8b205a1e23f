// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

func names(in *embed.Instance, id embed.JobID) string {
	var s []string
	for _, e := range in.Eventlog(id) {
		s = append(s, e.Name)
	}
	return strings.Join(s, " ")
}

// What a plugin's destructor sees: the job when the plugin is removed, no job
// when the job manager ends (job-manager.c purges its hashes first).
func TestPluginDestructor(t *testing.T) {
	in := embed.New(embed.Options{})
	var id embed.JobID
	var seen error
	load := func() {
		_, err := in.LoadPlugin("x.so", "", func(p *flux.Plugin) error {
			return p.OnDestroy("x", func() { _, seen = p.JobLookup(id) })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	load()
	id = submit(t, in, embed.Jobspec{Run: embed.Forever})
	running(t, in, id)
	seen = errors.New("not called")
	if err := in.RemovePlugin("x.so"); err != nil || seen != nil {
		t.Errorf("removed: %v, %v", err, seen)
	}
	load()
	in.RestartJobManager()
	if !errors.Is(seen, syscall.ENOENT) {
		t.Errorf("job manager ended: %v", seen)
	}
	if fmt.Sprint(in.Plugins()) != "[x.so]" {
		t.Errorf("plugins after the restart: %v", in.Plugins())
	}
	if err := in.Cancel(id); err != nil {
		t.Error(err)
	}
	finished(t, in, id)
	closed(t, in)
}

func TestConfiguration(t *testing.T) {
	in := embed.New(embed.Options{Config: "[burrow]\non-failure = \"drain\"\n"})
	var got []string
	_, err := in.LoadPlugin("/some/where/c.so", `{"a":1}`, func(p *flux.Plugin) error {
		if p.Conf() != `{"a":1}` {
			t.Errorf("conf %q", p.Conf())
		}
		return p.AddHandler("conf.update", func(_ string, a *flux.Args) error {
			s, _ := a.JSON()
			got = append(got, s)
			if strings.Contains(s, "bad") {
				_ = a.Reply(`{"errmsg":"burrow: bad: no such key"}`)
				return errors.New("bad")
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.ConfigReload("[burrow]\nbad = 1"); err == nil || err.Error() != "error updating job-manager: burrow: bad: no such key" {
		t.Errorf("bad configuration: %v", err)
	}
	if err := in.ConfigReload(`{"burrow":{"enable":false}}`); err != nil {
		t.Error(err)
	}
	want := []string{`{"conf":{"burrow":{"on-failure":"drain"}}}`, `{"conf":{"burrow":{"bad":1}}}`, `{"conf":{"burrow":{"enable":false}}}`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	if s, _ := in.RPC(0, 0, "config.get", ""); s != `{"burrow":{"enable":false}}` {
		t.Errorf("config.get: %s", s)
	}
	closed(t, in)
}

// dws does its part wherever in the list it is, and after a restart of the job
// manager in any moment no job is left.
func TestDWSAndRestarts(t *testing.T) {
	for _, first := range []bool{true, false} {
		in := embed.New(embed.Options{Size: 2})
		r := &recorder{}
		opts := embed.DWSOptions{SetupDelay: time.Second, PostRunDelay: time.Second}
		if first {
			if _, err := in.DWS(opts); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := in.LoadPlugin("dump.so", "", r.init); err != nil {
			t.Fatal(err)
		}
		if !first {
			if _, err := in.DWS(opts); err != nil {
				t.Fatal(err)
			}
		}
		id := submit(t, in, embed.Jobspec{Nodes: 2, DW: dw, Run: time.Second})
		finished(t, in, id)
		// As on a real Flux: recorded/jobtap-rabbit.jsonl.
		want := "submit validate dependency-add jobspec-update dependency-remove depend priority alloc " +
			"prolog-start dws_environment prolog-finish start finish epilog-start release epilog-finish free clean"
		if got := names(in, id); got != want {
			t.Errorf("dws first %t: %s", first, got)
		}
		closed(t, in)
	}
	for step := 50; step < 4000; step += 150 {
		in := embed.New(embed.Options{Size: 2, Seed: uint64(step)})
		if _, err := in.DWS(embed.DWSOptions{SetupDelay: time.Second, PostRunDelay: time.Second}); err != nil {
			t.Fatal(err)
		}
		id := submit(t, in, embed.Jobspec{Nodes: 2, Run: time.Second, DW: dw})
		in.Advance(time.Duration(step) * time.Millisecond)
		in.RestartJobManager()
		finished(t, in, id)
		closed(t, in)
	}
}

// A broker that is killed at any step loses what was not committed. A rabbit
// job that it still knows ends all the same.
func TestKilledAtEachStep(t *testing.T) {
	for steps := 1; steps < 60; steps++ {
		in := embed.New(embed.Options{Size: 2, Seed: uint64(steps)})
		d, err := in.DWS(embed.DWSOptions{SetupDelay: time.Second, PostRunDelay: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		id := submit(t, in, embed.Jobspec{Nodes: 2, Run: time.Second, DW: dw})
		for range steps {
			in.Step()
		}
		in.RestartBroker(0)
		if !in.Run(in.Idle, time.Hour) {
			t.Fatalf("killed after %d steps: stuck in %v: %s; %v", steps, in.State(id), names(in, id), d)
		}
		closed(t, in)
	}
}

// A hold that is open when the job manager restarts is replayed; start was
// posted, but a plugin that asks is told otherwise, and can start a prolog
// (FACTS 13).
func TestHoldsOverRestart(t *testing.T) {
	for _, kill := range []bool{false, true} {
		in := embed.New(embed.Options{Size: 2})
		var p *flux.Plugin
		hold := true
		_, err := in.LoadPlugin("hold.so", "", func(pl *flux.Plugin) error {
			p = pl
			return pl.AddHandler("job.state.run", func(string, *flux.Args) error {
				if hold {
					return pl.PrologStart("hold")
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		id := submit(t, in, embed.Jobspec{Nodes: 2, Run: embed.Forever})
		in.Advance(time.Second)
		restart := in.RestartJobManager
		if kill {
			restart = func() { in.RestartBroker(0) }
		}
		restart()
		in.Advance(time.Second)
		if j, _ := in.Job(id); j.Holds != 1 || j.State != embed.StateRun {
			t.Fatalf("%d holds in %v", j.Holds, j.State)
		}
		if err := p.PrologFinish(id, "hold", 0); err != nil {
			t.Fatal(err)
		}
		running(t, in, id)
		if err := p.PrologFinish(id, "hold", 0); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("finish of a prolog after the start request: %v", err)
		}
		in.Advance(time.Second)
		restart()
		in.Advance(time.Second)
		if n := len(in.TasksOn(1)); n != 1 {
			t.Errorf("%d jobs run after the restart", n)
		}
		if err := in.Cancel(id); err != nil {
			t.Fatal(err)
		}
		finished(t, in, id)
		if got := names(in, id); !strings.HasSuffix(got, "start exception finish release free clean") {
			t.Errorf("kill %t: %s", kill, got)
		}
		closed(t, in)
	}
}

func TestNoReattach(t *testing.T) {
	in := embed.New(embed.Options{NoReattach: true})
	id := submit(t, in, embed.Jobspec{Run: embed.Forever})
	running(t, in, id)
	in.Advance(time.Second)
	in.RestartJobManager()
	finished(t, in, id)
	// Seen on 0.88, with job-exec reloaded too.
	if got := names(in, id); !strings.HasSuffix(got, "start exception release free clean") {
		t.Error(got)
	}
	closed(t, in)
}

func TestNodeFailure(t *testing.T) {
	for _, after := range []time.Duration{0, 2 * time.Second} {
		in := embed.New(embed.Options{Size: 3, Topology: "kary:0", LostAfter: after})
		id := submit(t, in, embed.Jobspec{Nodes: 3, Run: embed.Forever})
		running(t, in, id)
		var down []string
		in.Client(0).Request(0, "resource.acquire", "", embed.Streaming, func(r embed.Response) { down = append(down, r.Payload) })
		in.Settle()
		begin := in.Elapsed()
		in.LoseRank(2)
		finished(t, in, id)
		if d := in.Elapsed() - begin; d < after || d > after+time.Second {
			t.Errorf("noticed after %v", d)
		}
		e := in.Eventlog(id)[len(in.Eventlog(id))-5]
		if e.Name != "exception" || gjson.Get(e.Context, "note").Str != "node failure on node2 (rank 2)" || gjson.Get(e.Context, "type").Str != "exec" {
			t.Errorf("%s %s in %s", e.Name, e.Context, names(in, id))
		}
		if len(down) != 2 || down[1] != `{"down":"2"}` {
			t.Errorf("acquire: %v", down)
		}
		closed(t, in)
	}
}

// The message that finds a crashed broker has no answer; a later one has, and
// who monitors the overlay is told (all three seen on 0.88).
func TestFinder(t *testing.T) {
	in := embed.New(embed.Options{Size: 4, Topology: "kary:2", LostAfter: time.Hour})
	var states []string
	c := in.Client(0)
	c.Request(0, "overlay.monitor", "", embed.Streaming, func(r embed.Response) { states = append(states, r.Payload) })
	in.LoseRank(2)
	in.Settle()
	if want := []string{`{"rank":1,"status":"full","torpid":false}`, `{"rank":2,"status":"full","torpid":false}`}; !slices.Equal(states, want) {
		t.Errorf("before: %v", states)
	}
	var answers []syscall.Errno
	for range 2 {
		in.Client(0).Request(2, "broker.ping", "{}", 0, func(r embed.Response) { answers = append(answers, r.Errno) })
		in.Advance(time.Minute)
	}
	if !slices.Equal(answers, []syscall.Errno{syscall.EHOSTUNREACH}) {
		t.Errorf("answers: %v", answers)
	}
	if want := `{"rank":2,"status":"lost","torpid":false}`; len(states) != 3 || states[2] != want {
		t.Errorf("after: %v", states)
	}
	in.ReturnRank(2)
	in.Settle()
	if len(states) != 4 || states[3] != `{"rank":2,"status":"full","torpid":false}` {
		t.Errorf("back: %v", states)
	}
	c.Close()
	in.Settle()
	in.LoseRank(1)
	if len(states) != 4 {
		t.Errorf("told after it was gone: %v", states)
	}
	closed(t, in)
}

func TestProcesses(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		in := embed.New(embed.Options{Size: 2, Seed: seed})
		in.Exec(func(c embed.Command) embed.Process {
			switch c.Args[0] {
			case "ok":
				return embed.Process{Duration: time.Second, Stderr: "no\n", Status: 3 << 8}
			case "hang":
				return embed.Process{Duration: embed.Forever}
			}
			return embed.Process{Errno: syscall.ENOENT}
		})
		run := func(arg string) (*[]string, *int) {
			var got []string
			pid := 0
			in.Client(0).Request(1, "rexec.exec", `{"cmd":{"cmdline":["`+arg+`"],"cwd":"/","env":{}},"flags":3}`, embed.Streaming, func(r embed.Response) {
				if r.Errno != 0 {
					got = append(got, fmt.Sprintf("%d %s", r.Errno, r.Text))
					return
				}
				o := gjson.Parse(r.Payload)
				if o.Get("pid").Exists() {
					pid = int(o.Get("pid").Int())
				}
				got = append(got, o.Get("type").Str+o.Get("io.data").Str+o.Get("status").Raw)
			})
			in.Advance(10 * time.Second)
			return &got, &pid
		}
		got, _ := run("ok")
		if n := len(*got); n != 6 || (*got)[0] != "started" || (*got)[5] != "61 No data available" {
			t.Errorf("%q", *got)
		}
		if seed == 0 && strings.Join(*got, ",") != "started,output,outputno\n,output,finished768,61 No data available" {
			t.Errorf("%q", *got)
		}
		got, _ = run("nothing")
		if fmt.Sprint(*got) != "[2 error launching process: No such file or directory]" {
			t.Errorf("%q", *got)
		}
		got, pid := run("hang")
		if _, err := in.RPC(0, 1, "rexec.kill", fmt.Sprintf(`{"pid":%d,"signum":9}`, *pid)); err != nil {
			t.Error(err)
		}
		in.Settle()
		if !strings.Contains(fmt.Sprint(*got), "finished9") || in.Processes() != 0 {
			t.Errorf("%q, %d left", *got, in.Processes())
		}
		_, err := in.RPC(0, 1, "rexec.kill", `{"pid":77,"signum":9}`)
		wantError(t, err, syscall.ESRCH, "pid 77 does not belong to any subprocess")
		got, _ = run("hang")
		in.LoseRank(1)
		in.Settle()
		if last := (*got)[len(*got)-1]; last != "113 No route to host" {
			t.Errorf("lost: %q", *got)
		}
		closed(t, in)
	}
}

// The demonstration's way: the wall's clock and real processes.
func TestRealTime(t *testing.T) {
	in := embed.New(embed.Options{Size: 2, RealTime: true})
	in.Exec(embed.RealProcesses)
	var got []string
	in.Client(0).Request(1, "rexec.exec", `{"cmd":{"cmdline":["sh","-c","sleep 0.1; echo rank $RANK >&2; exit 3"],"cwd":"/","env":{}},"flags":3}`, embed.Streaming, func(r embed.Response) {
		got = append(got, r.Payload+r.Text)
	})
	id := submit(t, in, embed.Jobspec{Nodes: 2, Run: 200 * time.Millisecond})
	start := time.Now()
	if !in.Run(in.Idle, 10*time.Second) {
		t.Fatal("the job did not end")
	}
	if d := time.Since(start); d < 200*time.Millisecond || d > 9*time.Second {
		t.Errorf("took %v", d)
	}
	if s := strings.Join(got, "\n"); !strings.Contains(s, `rank 1\n`) || !strings.Contains(s, `"status":768`) {
		t.Errorf("%s", s)
	}
	if e := in.Eventlog(id)[0]; e.Time < float64(start.Unix()-5) {
		t.Errorf("time of submit: %v", e.Time)
	}
	closed(t, in)
}
