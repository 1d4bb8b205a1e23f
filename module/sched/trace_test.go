// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader"
)

// replay feeds an engine what a real scheduler was sent (testdata/
// sched-trace*.jsonl, recorded on flux-core 0.88) and collects what it answers.
type replay struct {
	*fakeHost
	engine  *Engine
	config  Config
	acquire func(string, error)
	hello   []string // recorded responses of the coming hello
	got     map[jobid.ID][]gjson.Result
}

type traceLine struct{ module, dir, kind, topic, result, payload string }

func readTrace(t *testing.T, file string) []traceLine {
	fh, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer fh.Close()
	var lines []traceLine
	in := bufio.NewScanner(fh)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		v := gjson.ParseBytes(in.Bytes())
		l := traceLine{v.Get("module").Str, v.Get("dir").Str, v.Get("kind").Str, v.Get("topic").Str,
			v.Get("result").Str, v.Get("payload").Raw}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		t.Fatalf("%s: empty", file)
	}
	return lines
}

// schedSide turns the view of job-manager and resource into that of the
// scheduler, where the trace does not have the latter.
func schedSide(lines []traceLine) []traceLine {
	own := false
	for _, l := range lines {
		own = own || l.module == "sched-simple"
	}
	var out []traceLine
	for _, l := range lines {
		if own != (l.module == "sched-simple") {
			continue
		}
		about := strings.HasPrefix(l.topic, "sched.") || l.topic == "resource.acquire" ||
			strings.HasPrefix(l.topic, "job-manager.sched-")
		if !about {
			continue
		}
		if !own {
			l.dir = map[string]string{"tx": "rx", "rx": "tx"}[l.dir]
		}
		out = append(out, l)
	}
	return out
}

func (r *replay) load() {
	r.acquire = nil
	r.engine = New(r, r.config)
	r.engine.Start()
	r.run()
}

func newReplay(t *testing.T, lines []traceLine, match resource.Order) *replay {
	c := testConfig()
	c.Match, c.QueueDepth = match, 8
	r := &replay{fakeHost: newFakeHost(t), config: c,
		got: map[jobid.ID][]gjson.Result{}}
	r.services["resource.acquire"] = func(_ string, reply func(string, error)) { r.acquire = reply }
	r.services["job-manager.sched-hello"] = func(payload string, reply func(string, error)) {
		if payload != `{"partial-ok":true}` {
			t.Errorf("hello with %s", payload)
		}
		for _, p := range r.hello {
			reply(p, nil)
		}
		reply("", syscall.ENODATA)
	}
	r.services["job-manager.sched-ready"] = func(payload string, reply func(string, error)) {
		if diff := cmp.Diff(gjson.Parse(`{"mode":"limited","limit":8}`).Value(), gjson.Parse(payload).Value()); diff != "" {
			t.Errorf("ready: %s", diff)
		}
		reply(`{"count":0}`, nil)
	}
	for _, l := range lines {
		if l.topic == "resource.acquire" && gjson.Get(l.payload, "resources").Exists() {
			r.load() // the recording begins with a scheduler that is there
			r.acquire(l.payload, nil)
			r.run()
			break
		}
	}
	return r
}

func TestRecordedTraces(t *testing.T) {
	for _, file := range []string{"sched-trace.jsonl", "sched-trace-2.jsonl", "sched-trace-3.jsonl"} {
		for _, match := range []resource.Order{resource.First, resource.Worst} {
			t.Run(fmt.Sprint(file, " ", match), func(t *testing.T) {
				lines := schedSide(readTrace(t, "testdata/"+file))
				r := newReplay(t, lines, match)
				compared := 0
				for i, l := range lines {
					compared += r.line(t, lines[i+1:], l)
					r.run()
					if err := r.engine.pool.Verify(); err != nil {
						t.Fatalf("line %d: %s", i, err)
					}
				}
				if compared < 3 {
					t.Errorf("%d responses compared", compared)
				}
			})
		}
	}
}

// line plays one line; it returns 1 if it was a response that was compared.
func (r *replay) line(t *testing.T, rest []traceLine, l traceLine) int {
	if l.kind == "request" && l.dir == "rx" {
		id := jobid.ID(gjson.Get(l.payload, "id").Uint())
		send(r.engine, l.topic, l.payload, func(p string, err error) {
			if l.topic == "sched.expiration" {
				if err != nil {
					t.Errorf("sched.expiration: %s", err)
				}
				return
			}
			if v := gjson.Parse(p); v.Get("type").Int() != allocAnnotate {
				r.got[id] = append(r.got[id], v)
			}
		})
		return 0
	}
	switch {
	case l.topic == "resource.acquire" && l.kind == "response":
		if gjson.Get(l.payload, "resources").Exists() {
			r.engine.Stop()
			r.hello = nil
			for _, next := range rest {
				if next.topic != "job-manager.sched-hello" || next.kind != "response" {
					continue
				}
				if next.result == "ENODATA" {
					break
				}
				r.hello = append(r.hello, next.payload)
			}
			r.load()
		}
		r.acquire(l.payload, nil)
	case l.topic == "sched.alloc" && l.kind == "response" && gjson.Get(l.payload, "type").Int() != allocAnnotate:
		return r.compare(t, gjson.Parse(l.payload))
	}
	return 0
}

// compare wants the same kind of answer and, for a success, the same R.
func (r *replay) compare(t *testing.T, want gjson.Result) int {
	id := jobid.ID(want.Get("id").Uint())
	if len(r.got[id]) == 0 {
		t.Errorf("%s: no answer, recorded was %s", id, want.Raw)
		return 0
	}
	got := r.got[id][0]
	r.got[id] = r.got[id][1:]
	if got.Get("type").Int() != want.Get("type").Int() {
		t.Errorf("%s: answer %s, recorded was %s", id, got.Raw, want.Raw)
		return 0
	}
	switch got.Get("type").Int() {
	case allocDeny:
		if !strings.HasPrefix(got.Get("note").Str, "unsatisfiable request: ") {
			t.Errorf("%s: denied with %q", id, got.Get("note").Str)
		}
	case allocSuccess:
		r.compareR(t, id, got, want)
	}
	return 1
}

func (r *replay) compareR(t *testing.T, id jobid.ID, got, want gjson.Result) {
	a, err := rv1reader.Read([]byte(got.Get("R").Raw))
	if err != nil {
		t.Errorf("%s: R %s: %s", id, got.Get("R").Raw, err)
		return
	}
	b, _ := rv1reader.Read([]byte(want.Get("R").Raw))
	if !a.Set.Equal(b.Set) || a.NSlots != b.NSlots || a.Nodelist.String() != b.Nodelist.String() {
		t.Errorf("%s: R is %s, recorded was %s", id, got.Get("R").Raw, want.Get("R").Raw)
	}
	for _, key := range []string{"R.execution.properties", "annotations.sched.resource_summary"} {
		if diff := cmp.Diff(want.Get(key).Value(), got.Get(key).Value()); diff != "" {
			t.Errorf("%s: %s: %s", id, key, diff)
		}
	}
	if (a.Expiration > 0) != (b.Expiration > 0) || a.Starttime != r.now {
		t.Errorf("%s: from %f to %f, recorded was from %f to %f", id, a.Starttime, a.Expiration, b.Starttime, b.Expiration)
	}
	r.kvs[id.Key("R")] = got.Get("R").Raw
}
