// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// simple decides as sched-simple did in recorded/sched-trace.jsonl, and notes
// what went between it and the job manager.
type simple struct {
	trace   *[]string
	h       *flux.Handle
	mhs     []*flux.MsgHandler
	futures []*flux.Future
	waiting map[uint64]*flux.Request
	both    bool // two nodes can be had
}

func (s *simple) note(dir, kind, topic, result, payload string) {
	*s.trace = append(*s.trace, message(dir, kind, topic, result, payload))
}

// message is what is compared: direction as the job manager sees it, and the
// keys of the payload in their order.
func message(dir, kind, topic, result, payload string) string {
	var keys []string
	gjson.Parse(payload).ForEach(func(k, v gjson.Result) bool {
		s := k.Str
		if s == "type" || s == "mode" || s == "final" || s == "jobs" || s == "free" || s == "up" || s == "down" {
			if s == "jobs" {
				s += "=" + v.Get("0.1").Raw
			} else {
				s += "=" + v.Raw
			}
		}
		keys = append(keys, s)
		return true
	})
	return fmt.Sprintf("%s %s %s %s {%s}", dir, kind, topic, result, strings.Join(keys, " "))
}

func (s *simple) start(h *flux.Handle, _ []string) (func(), error) {
	s.h, s.waiting = h, map[uint64]*flux.Request{}
	for topic, fn := range map[string]func(*flux.Request, gjson.Result){
		"alloc": s.alloc, "cancel": s.cancel, "free": func(*flux.Request, gjson.Result) {},
		"prioritize": func(*flux.Request, gjson.Result) {},
		"expiration": func(r *flux.Request, _ gjson.Result) {
			s.note("rx", "response", "sched.expiration", "success", "")
			_ = r.Respond("")
		},
	} {
		mh, err := h.HandleRequest("sched."+topic, 0, func(r *flux.Request) {
			p, _ := r.Payload()
			s.note("tx", "request", r.Topic(), "", p)
			fn(r, gjson.Parse(p))
		})
		if err != nil {
			return nil, err
		}
		s.mhs = append(s.mhs, mh)
	}
	f, err := h.RegisterService("sched")
	if err != nil {
		return nil, err
	}
	if err := f.Wait(time.Second); err != nil {
		return nil, err
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	f.Destroy()
	acquired := false
	if err := s.rpc("resource.acquire", "", flux.Streaming, func(p string) {
		if !acquired {
			acquired = true
			_ = s.rpc("job-manager.sched-hello", `{"partial-ok":true}`, flux.Streaming, func(string) {}, func() {
				_ = s.rpc("job-manager.sched-ready", `{"mode":"limited","limit":8}`, 0, func(string) {}, nil)
			})
		}
	}, nil); err != nil {
		return nil, err
	}
	return s.stop, nil
}

func (s *simple) rpc(topic, payload string, flags int, got func(string), end func()) error {
	s.note("rx", "request", topic, "", payload)
	f, err := s.h.RPC(topic, payload, 0, flags)
	if err != nil {
		return err
	}
	s.futures = append(s.futures, f)
	return f.Then(flux.Forever, func(f *flux.Future) {
		p, err := f.Get()
		switch flux.Errno(err, 0) {
		case 0:
			s.note("tx", "response", topic, "success", p)
			got(p)
			if flags != 0 {
				f.Reset()
			}
		case syscall.ENODATA:
			s.note("tx", "response", topic, "ENODATA", "")
			end()
		default:
			panic(err)
		}
	})
}

func (s *simple) respond(r *flux.Request, payload string) {
	s.note("rx", "response", "sched.alloc", "success", payload)
	_ = r.Respond(payload)
}

func (s *simple) alloc(r *flux.Request, p gjson.Result) {
	id, nodes := p.Get("id").Uint(), p.Get("jobspec.resources.0")
	count := nodes.Get("count").Int()
	rank := "0"
	if s.both {
		rank = "0-1"
	}
	if nodes.Get("type").Str != "node" {
		rank = "1"
	}
	switch {
	case count > 2:
		s.respond(r, fmt.Sprintf(`{"id":%d,"type":2,"note":"unsatisfiable request: need %d exclusive node(s), only 2 eligible"}`, id, count))
	case count > 1 && !s.both:
		s.waiting[id] = r.Keep()
	default:
		s.respond(r, fmt.Sprintf(`{"id":%d,"type":0,"R":{"version":1,"execution":{"R_lite":[{"rank":"%s","children":{"core":"0"}}],`+
			`"starttime":%f,"expiration":%f,"nslots":1,"nodelist":["vm"]}},"annotations":{"sched":{"resource_summary":"rank%s/core0"}}}`,
			id, rank, s.h.Now(), s.h.Now()+1200, rank))
	}
}

func (s *simple) cancel(_ *flux.Request, p gjson.Result) {
	id := p.Get("id").Uint()
	if w := s.waiting[id]; w != nil {
		s.respond(w, fmt.Sprintf(`{"id":%d,"type":3}`, id))
		w.Release()
		delete(s.waiting, id)
	}
}

func (s *simple) stop() {
	for _, mh := range s.mhs {
		mh.Destroy()
	}
	for _, f := range s.futures {
		f.Destroy()
	}
	for _, w := range s.waiting {
		w.Release()
	}
}

// The session of recorded/sched-trace.jsonl, but for what other clients ask
// of the resource module.
func TestReplayScheduler(t *testing.T) {
	f, err := os.Open("testdata/sched-trace.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		o := gjson.Parse(sc.Text())
		topic, dir := o.Get("topic").Str, o.Get("dir").Str
		if o.Get("module").Str == "resource" && (topic != "resource.acquire" || o.Get("kind").Str == "" || o.Get("text").Exists()) {
			continue
		}
		want = append(want, message(dir, o.Get("kind").Str, topic, o.Get("result").Str, o.Get("payload").Raw))
	}

	if len(want) < 25 {
		t.Fatalf("only %d messages recorded", len(want))
	}
	in := embed.New(embed.Options{Size: 2, Hosts: []string{"vm", "vm"}, NoScheduler: true})
	var trace []string
	load := func() *embed.Module {
		m, err := in.LoadModule(0, "sched-simple", nil, (&simple{trace: &trace}).start)
		if err != nil {
			t.Fatal(err)
		}
		in.Advance(time.Second)
		return m
	}
	m := load()
	trace = nil // the recording begins later
	a := submit(t, in, embed.Jobspec{Nodes: 1, Exclusive: true, Run: embed.Forever, TimeLimit: 1200 * time.Second})
	in.Advance(time.Second)
	b := submit(t, in, embed.Jobspec{Run: embed.Forever})
	in.Advance(time.Second)
	m.Unload()
	in.Advance(time.Second)
	load()
	submit(t, in, embed.Jobspec{Nodes: 4, Exclusive: true})
	in.Advance(time.Second)
	c := submit(t, in, embed.Jobspec{Nodes: 2, Exclusive: true})
	in.Advance(time.Second)
	for _, topic := range []string{"drain", "undrain"} {
		payload := `{"targets":"1"}`
		if topic == "drain" {
			payload = `{"targets":"1","reason":"test"}`
		}
		if _, err := in.RPC(0, 0, "resource."+topic, payload); err != nil {
			t.Fatal(err)
		}
		in.Advance(time.Second)
	}
	if err := in.UpdateDuration(a, 1800); err != nil {
		t.Fatal(err)
	}
	if err := in.SetUrgency(c, 20); err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Second)
	for _, id := range []embed.JobID{c, b, a} {
		if err := in.Cancel(id); err != nil {
			t.Fatal(err)
		}
		in.Advance(time.Second)
	}
	for i := 0; i < len(want) || i < len(trace); i++ {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = want[i]
		}
		if i < len(trace) {
			g = trace[i]
		}
		if w != g {
			t.Fatalf("message %d:\nreal     %s\nembedded %s\n%s", i, w, g, strings.Join(trace, "\n"))
		}
	}
	if !in.Idle() {
		t.Error("jobs are left")
	}
	closed(t, in)
}

// Housekeeping lets rank 0 go early, and a scheduler that is loaded meanwhile
// is told: recorded/sched-trace-3.jsonl.
func TestHousekeeping(t *testing.T) {
	in := embed.New(embed.Options{Size: 2, NoScheduler: true,
		Housekeeping: func(_ embed.JobID, rank int) time.Duration { return time.Duration(1+8*rank) * time.Second }})
	var trace []string
	two := &simple{trace: &trace, both: true}
	m, err := in.LoadModule(0, "sched-simple", nil, two.start)
	if err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Second)
	trace = nil
	submit(t, in, embed.Jobspec{Nodes: 2, Exclusive: true})
	in.Advance(3 * time.Second)
	m.Unload()
	if _, err := in.LoadModule(0, "sched-simple", nil, (&simple{trace: &trace}).start); err != nil {
		t.Fatal(err)
	}
	in.Advance(10 * time.Second)
	want := []string{
		"tx request sched.alloc  {id priority userid t_submit jobspec}",
		"rx response sched.alloc success {id type=0 R annotations}",
		"tx request sched.free  {id R final=false}",
		"rx request resource.acquire  {}",
		`tx response resource.acquire success {resources up="0-1"}`,
		"rx request job-manager.sched-hello  {partial-ok}",
		`tx response job-manager.sched-hello success {id priority userid t_submit free="0"}`,
		"tx response job-manager.sched-hello ENODATA {}",
		`rx request job-manager.sched-ready  {mode="limited" limit}`,
		"tx response job-manager.sched-ready success {count}",
		"tx request sched.free  {id R final=true}",
	}
	if strings.Join(trace, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(trace, "\n"))
	}
	closed(t, in)
}
