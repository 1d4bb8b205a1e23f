// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// echo is a module that answers, streams, holds requests and can be asked to
// forward.
type echo struct {
	h       *flux.Handle
	mhs     []*flux.MsgHandler
	kept    []*flux.Request
	streams []*flux.Request
	futures []*flux.Future
	stopped bool
	events  []string
	poster  *flux.Poster
	timer   *flux.Timer
}

func (e *echo) start(h *flux.Handle, args []string) (func(), error) {
	e.h = h
	for topic, fn := range map[string]func(*flux.Request){
		"say":  func(r *flux.Request) { p, _ := r.Payload(); _ = r.Respond(p) },
		"fail": func(r *flux.Request) { _ = r.RespondError(&flux.Error{Num: syscall.EBUSY, Text: "not now"}) },
		"hold": func(r *flux.Request) { e.kept = append(e.kept, r.Keep()) },
		"stream": func(r *flux.Request) {
			e.streams = append(e.streams, r.Keep())
			_ = r.Respond(`{"n":1}`)
			_ = r.Respond(`{"n":2}`)
		},
		"cancel": func(r *flux.Request) {
			for i, s := range e.streams {
				if r.Cancels(s) {
					_ = s.RespondError(&flux.Error{Num: syscall.ECANCELED})
					s.Release()
					e.streams = append(e.streams[:i], e.streams[i+1:]...)
					return
				}
			}
		},
		"disconnect": func(r *flux.Request) {
			for i := 0; i < len(e.streams); i++ {
				if r.Disconnects(e.streams[i]) {
					e.streams[i].Release()
					e.streams = append(e.streams[:i], e.streams[i+1:]...)
					i--
				}
			}
		},
		"exit": func(r *flux.Request) { h.StopError() },
	} {
		mh, err := h.HandleRequest("echo."+topic, 0, fn)
		if err != nil {
			return nil, err
		}
		e.mhs = append(e.mhs, mh)
	}
	mh, err := h.HandleEvent("news.*", func(topic, payload string) { e.events = append(e.events, topic+payload) })
	if err != nil {
		return nil, err
	}
	e.mhs = append(e.mhs, mh)
	if err := h.Subscribe("news."); err != nil {
		return nil, err
	}
	return e.stop, h.SetRunning()
}

func (e *echo) stop() {
	e.stopped = true
	for _, mh := range e.mhs {
		mh.Destroy()
	}
	for _, r := range append(e.kept, e.streams...) {
		r.Release()
	}
	for _, f := range e.futures {
		f.Destroy()
	}
	if e.poster != nil {
		e.poster.Destroy()
	}
	if e.timer != nil {
		e.timer.Destroy()
	}
}

func loadEcho(t *testing.T, in *embed.Instance, rank int, opts ...embed.ModuleOption) (*embed.Module, *echo) {
	t.Helper()
	e := &echo{}
	m, err := in.LoadModule(rank, "echo", nil, e.start, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m, e
}

func wantError(t *testing.T, err error, num syscall.Errno, text string) {
	t.Helper()
	if !errors.Is(err, num) || err.Error() != text {
		t.Errorf("got %v, want %v with %q", err, num, text)
	}
}

func TestRPC(t *testing.T) {
	for _, seed := range []uint64{0, 7} {
		in := embed.New(embed.Options{Size: 7, Seed: seed})
		for r := 0; r < 6; r++ {
			loadEcho(t, in, r)
		}
		// Each pair of ranks, there and back.
		for from := 0; from < 7; from++ {
			for to := 0; to < 6; to++ {
				got, err := in.RPC(from, uint32(to), "echo.say", `{"x":1}`)
				if err != nil || got != `{"x":1}` {
					t.Fatalf("%d to %d: %q, %v", from, to, got, err)
				}
			}
		}
		// The texts are those of flux-core 0.88.
		_, err := in.RPC(0, 6, "echo.say", "")
		wantError(t, err, syscall.ENOSYS, "No service matching echo.say is registered")
		_, err = in.RPC(0, 5, "echo.sing", "")
		wantError(t, err, syscall.ENOSYS, "Unknown service method 'echo.sing'")
		_, err = in.RPC(0, 5, "echo.fail", "")
		wantError(t, err, syscall.EBUSY, "not now")
		_, err = in.RPC(6, embed.NodeAny, "nobody.say", "")
		wantError(t, err, syscall.ENOSYS, "No service matching nobody.say is registered")
		_, err = in.RPC(0, 77, "echo.say", "")
		wantError(t, err, syscall.EHOSTUNREACH, "No route to host")
		_, err = in.Guest(3, 1000).Call(3, "echo.say", "")
		wantError(t, err, syscall.EPERM, "Request requires owner credentials")
		// Rank 6 has no echo: to any rank goes up to its parent.
		if _, err := in.RPC(6, embed.NodeAny, "echo.say", ""); err != nil {
			t.Error(err)
		}
		closed(t, in)
	}
}

func TestStreamCancelDisconnect(t *testing.T) {
	in := embed.New(embed.Options{Size: 3})
	_, e := loadEcho(t, in, 2)
	c := in.Client(1)
	var got []string
	tag := c.Request(2, "echo.stream", "", embed.Streaming, func(r embed.Response) {
		got = append(got, fmt.Sprintf("%s%d", r.Payload, r.Errno))
	})
	in.Settle()
	if len(got) != 2 || len(e.streams) != 1 {
		t.Fatalf("got %v", got)
	}
	c.Request(2, "echo.cancel", fmt.Sprintf(`{"matchtag":%d}`, tag), embed.NoResponse, nil)
	in.Settle()
	if len(got) != 3 || got[2] != fmt.Sprintf("%d", syscall.ECANCELED) || len(e.streams) != 0 {
		t.Fatalf("after cancel: %v, %d streams", got, len(e.streams))
	}
	c.Request(2, "echo.stream", "", embed.Streaming, func(embed.Response) {})
	in.Settle()
	c.Close()
	in.Settle()
	if len(e.streams) != 0 {
		t.Error("disconnect was not heard")
	}
	in.Publish("news.good", `{"a":1}`)
	in.Publish("other", "")
	in.Settle()
	if strings.Join(e.events, " ") != `news.good{"a":1}` {
		t.Errorf("events: %v", e.events)
	}
	closed(t, in)
}

// What a module leaves unanswered when it ends depends on how it ends.
func TestModuleEnds(t *testing.T) {
	in := embed.New(embed.Options{Size: 2})
	type answer struct {
		r embed.Response
		n int
	}
	ask := func() (held, queued *answer) {
		held, queued = &answer{}, &answer{}
		for topic, a := range map[string]*answer{"echo.hold": held} {
			in.Call(0, 1, topic, "", func(r embed.Response) { a.r, a.n = r, a.n+1 })
		}
		in.Settle()
		in.Call(0, 1, "echo.say", "", func(r embed.Response) { queued.r, queued.n = r, queued.n+1 })
		return held, queued
	}
	m, e := loadEcho(t, in, 1)
	held, queued := ask()
	m.Unload()
	in.Settle()
	if !e.stopped || held.n != 0 {
		t.Errorf("a thread that is unloaded answers nothing for it: %+v", held)
	}
	if queued.r.Errno != syscall.ENOSYS {
		t.Errorf("what it did not look at: %+v", queued)
	}
	m, e = loadEcho(t, in, 1)
	held, queued = ask()
	m.Kill()
	in.Settle()
	if e.stopped {
		t.Error("a killed module was stopped in order")
	}
	for _, a := range []*answer{held, queued} {
		if a.n != 1 || a.r.Errno != syscall.EHOSTUNREACH || a.r.Text != "module disconnect" {
			t.Errorf("after kill: %+v", a)
		}
	}
	m, _ = loadEcho(t, in, 1)
	if _, err := in.LoadModule(1, "echo", nil, (&echo{}).start); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("second load: %v", err)
	}
	in.Call(0, 1, "echo.exit", "", func(embed.Response) {})
	in.Settle()
	if !m.Ended() || !m.Failed || len(in.Panics()) != 1 {
		t.Errorf("module that failed: ended %t, failed %t, %v", m.Ended(), m.Failed, in.Panics())
	}
	closed(t, in)
}

func TestLostRanks(t *testing.T) {
	for _, seed := range []uint64{0, 3, 4, 5} {
		in := embed.New(embed.Options{Size: 7, Seed: seed}) // 0-(1-(3,4),2-(5,6))
		for r := range 7 {
			loadEcho(t, in, r)
		}
		got := map[int]embed.Response{}
		for _, r := range []int{1, 2, 3, 4} {
			in.Call(0, uint32(r), "echo.hold", "", func(a embed.Response) { got[r] = a })
		}
		in.Settle()
		in.LoseRank(1)
		in.Settle()
		for _, r := range []int{1, 3, 4} {
			if got[r].Errno != syscall.EHOSTUNREACH || got[r].Text != "No route to host" {
				t.Errorf("pending at rank %d: %+v", r, got[r])
			}
			_, err := in.RPC(2, uint32(r), "echo.say", "")
			wantError(t, err, syscall.EHOSTUNREACH, "No route to host")
		}
		if _, ok := got[2]; ok {
			t.Error("rank 2 was not lost")
		}
		in.ReturnRank(1)
		_, err := in.RPC(0, 4, "echo.say", "")
		wantError(t, err, syscall.ENOSYS, "No service matching echo.say is registered")
		loadEcho(t, in, 4)
		if _, err := in.RPC(0, 4, "echo.say", ""); err != nil {
			t.Error(err)
		}
		closed(t, in)
	}
}

// A module's own RPCs, timers, posts from goroutines, and blocking waits.
func TestModuleSide(t *testing.T) {
	for _, seed := range []uint64{0, 11} {
		in := embed.New(embed.Options{Size: 4, Topology: "kary:0", Seed: seed})
		_, far := loadEcho(t, in, 3)
		_, e := loadEcho(t, in, 0)
		f, err := e.h.RPC("echo.say", `{"hi":1}`, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		answer := ""
		if err := f.Then(time.Second, func(f *flux.Future) { answer, _ = f.Get(); f.Destroy() }); err != nil {
			t.Fatal(err)
		}
		in.Settle()
		if answer != `{"hi":1}` {
			t.Errorf("answer %q", answer)
		}
		// A time limit, and the late answer after it.
		f, _ = e.h.RPC("echo.hold", "", 3, 0)
		var late error
		_ = f.Then(2*time.Second, func(f *flux.Future) { _, late = f.Get(); f.Destroy() })
		start := in.Elapsed()
		in.Run(func() bool { return late != nil }, time.Minute)
		if !errors.Is(late, syscall.ETIMEDOUT) || in.Elapsed()-start != 2*time.Second {
			t.Errorf("%v after %v", late, in.Elapsed()-start)
		}
		_ = far.kept[0].Respond("")
		in.Settle()
		// A wait that blocks: requests for the module come after it.
		said := false
		in.Call(2, 0, "echo.say", "", func(embed.Response) { said = true })
		if f, err = e.h.Lookup("no.such.key"); err != nil {
			t.Fatal(err)
		}
		if err := f.Wait(time.Second); err != nil {
			t.Error(err)
		}
		_, err = f.Value()
		wantError(t, err, syscall.ENOENT, "No such file or directory")
		f.Destroy()
		if said {
			t.Error("a handler was called while its module blocked")
		}
		in.Settle()
		if !said {
			t.Error("the request was lost")
		}
		// Work in a goroutine.
		if e.poster, err = e.h.NewPoster(); err != nil {
			t.Fatal(err)
		}
		var at time.Duration
		if e.timer, err = e.h.After(time.Hour, func() { at = in.Elapsed() }); err != nil {
			t.Fatal(err)
		}
		posted := time.Duration(-1)
		in.WorkStarted()
		go func() {
			time.Sleep(20 * time.Millisecond)
			e.poster.Post(func() { posted = in.Elapsed() })
			in.WorkDone()
		}()
		begin := in.Elapsed()
		in.Run(func() bool { return at != 0 }, 2*time.Hour)
		if posted != begin || at != begin+time.Hour {
			t.Errorf("posted at %v, timer at %v, begun at %v", posted, at, begin)
		}
		closed(t, in)
	}
}

func TestKVS(t *testing.T) {
	in := embed.New(embed.Options{})
	_, e := loadEcho(t, in, 0)
	txn, err := flux.NewTxn()
	if err != nil {
		t.Fatal(err)
	}
	_ = txn.Put("a.b", `"x"`)
	_ = txn.Put("a.c", "1")
	f, err := e.h.Commit(txn)
	if err != nil {
		t.Fatal(err)
	}
	txn.Destroy()
	if _, ok := in.KVSGet("a.b"); ok {
		t.Error("committed before its time")
	}
	if err := f.Wait(time.Second); err != nil || f.Done() != nil {
		t.Errorf("commit: %v, %v", err, f.Done())
	}
	f.Destroy()
	if v, _ := in.KVSGet("a.b"); v != `"x"` {
		t.Errorf("a.b is %q", v)
	}
	f, _ = e.h.Lookup("a")
	_ = f.Wait(time.Second)
	if _, err := f.Value(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	f.Destroy()
	closed(t, in)
}
