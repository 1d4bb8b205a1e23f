// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// recorder is the plugin that made recorded/jobtap-*.jsonl: it takes every
// callback, and subscribes to each job at job.new and again at job.state.run.
type recorder struct {
	lines []callback
	hold  bool // hold each prolog, as for jobtap-restart.jsonl
}

type callback struct{ topic, args string }

func (r *recorder) init(p *flux.Plugin) error {
	return p.AddHandler("*", func(topic string, args *flux.Args) error {
		in, err := args.JSON()
		if err != nil {
			return err
		}
		r.lines = append(r.lines, callback{topic, in})
		switch topic {
		case "job.new":
			return p.JobSubscribe(flux.CurrentJob)
		case "job.state.run":
			if err := p.JobSubscribe(flux.CurrentJob); err != nil {
				return err
			}
			if r.hold {
				return p.PrologStart("hold")
			}
		}
		return nil
	})
}

// shape is what must be the same as on a real Flux: which callback, for which
// job (counted by first appearance), the keys of its arguments in their
// order, the state, and the event with the keys of its context.
func (c callback) shape(jobs map[string]int) string {
	if c.topic == "mark" {
		return "mark"
	}
	o := gjson.Parse(c.args)
	var keys []string
	o.ForEach(func(k, v gjson.Result) bool {
		keys = append(keys, k.Str)
		return true
	})
	s := fmt.Sprintf("%s [%s]", c.topic, strings.Join(keys, " "))
	if id := o.Get("id"); id.Exists() {
		if _, ok := jobs[id.Raw]; !ok {
			jobs[id.Raw] = len(jobs)
		}
		s += fmt.Sprintf(" job%d state=%s prev=%s", jobs[id.Raw], o.Get("state").Raw, o.Get("prev_state").Raw)
	}
	for _, e := range []string{"entry", "end_event"} {
		if v := o.Get(e); v.Exists() {
			var ctx []string
			v.Get("context").ForEach(func(k, v gjson.Result) bool {
				ctx = append(ctx, k.Str)
				return true
			})
			s += fmt.Sprintf(" %s=%s(%s)", e, v.Get("name").Str, strings.Join(ctx, " "))
			if n := v.Get("context.status"); n.Exists() {
				s += " status=" + n.Raw
			}
		}
	}
	if r := o.Get("R"); r.Exists() {
		// Which nodes is the scheduler's affair; their number is not.
		s += fmt.Sprintf(" nodes=%d", 1+strings.Count(r.Get("execution.R_lite.0.rank").Str, "-"))
	}
	return s
}

func recorded(t *testing.T, name string) []callback {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []callback
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var o struct {
			Topic, Mark string
			Args        json.RawMessage
		}
		if err := json.Unmarshal(sc.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		if o.Mark != "" {
			lines = append(lines, callback{"mark", o.Mark})
		} else {
			lines = append(lines, callback{o.Topic, string(o.Args)})
		}
	}
	return lines
}

func compare(t *testing.T, want, got []callback) {
	t.Helper()
	wj, gj := map[string]int{}, map[string]int{}
	bad := 0
	for i := 0; i < len(want) || i < len(got); i++ {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = want[i].shape(wj)
		}
		if i < len(got) {
			g = got[i].shape(gj)
		}
		if w != g {
			t.Errorf("callback %d:\nreal     %s\nembedded %s", i, w, g)
			if bad++; bad == 5 {
				t.FailNow()
			}
		}
	}
}

func runUntil(t *testing.T, in *embed.Instance, what string, until func() bool) {
	t.Helper()
	if !in.Run(until, 3600e9) {
		for _, l := range in.Log() {
			t.Log(l)
		}
		t.Fatalf("never: %s", what)
	}
}

func finished(t *testing.T, in *embed.Instance, id embed.JobID) {
	t.Helper()
	runUntil(t, in, "the end of a job", func() bool { return in.State(id) == embed.StateInactive })
}

func running(t *testing.T, in *embed.Instance, id embed.JobID) {
	t.Helper()
	runUntil(t, in, "start", func() bool {
		for _, e := range in.Eventlog(id) {
			if e.Name == "start" {
				return true
			}
		}
		return false
	})
}

func submit(t *testing.T, in *embed.Instance, s embed.Jobspec) embed.JobID {
	t.Helper()
	id, err := in.Submit(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func closed(t *testing.T, in *embed.Instance) {
	t.Helper()
	in.Close()
	for _, l := range in.Leaks() {
		t.Errorf("leaked %s", l)
	}
}

func id(c callback) uint64 { return gjson.Get(c.args, "id").Uint() }
