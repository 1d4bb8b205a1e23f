// SPDX-License-Identifier: LGPL-3.0-or-later

package flux_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// with runs fn as a module's set-up on rank 0 of an instance of two, lets the
// instance run, and looks for what the module left behind.
func with(t *testing.T, fn func(in *embed.Instance, h *flux.Handle) (stop func())) {
	t.Helper()
	in := embed.New(embed.Options{Size: 2})
	defer in.Close()
	m, err := in.LoadModule(0, "probe", nil, func(h *flux.Handle, _ []string) (func(), error) {
		return fn(in, h), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Minute)
	m.Unload()
	in.Settle()
	if leaks := in.Leaks(); len(leaks) > 0 {
		t.Errorf("left behind: %v", leaks)
	}
}

func TestHandle(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		if rank, err := h.Rank(); err != nil || rank != 0 {
			t.Errorf("rank %d, %v", rank, err)
		}
		if size, err := h.Size(); err != nil || size != 2 {
			t.Errorf("size %d, %v", size, err)
		}
		if h.ModuleName() != "probe" {
			t.Errorf("module %q", h.ModuleName())
		}
		if v, ok := h.Attr("no.such.attribute"); ok {
			t.Errorf("an attribute that is not there: %q", v)
		}
		h.Log(flux.LogInfo, "100%% of %s", "it")
		return func() {
			if !strings.Contains(fmt.Sprint(in.Log()), "100% of it") {
				t.Errorf("log: %v", in.Log())
			}
		}
	})
}

func TestTimer(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		start, fired := h.Now(), 0.0
		timer, err := h.After(5*time.Second, func() { fired = h.Now() - start })
		if err != nil {
			t.Fatal(err)
		}
		never, err := h.After(time.Second, func() { t.Error("a destroyed timer fired") })
		if err != nil {
			t.Fatal(err)
		}
		never.Destroy()
		never.Destroy()
		return func() {
			if fired < 5 || fired > 5.1 {
				t.Errorf("a timer of 5 s fired after %v", fired)
			}
			timer.Destroy()
		}
	})
}

func TestPoster(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		p, err := h.NewPoster()
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		in.WorkStarted()
		go func() {
			defer in.WorkDone()
			for i := range 100 {
				p.Post(func() { got = append(got, i) })
			}
		}()
		return func() {
			for i, n := range got {
				if i != n {
					t.Fatalf("order: %v", got)
				}
			}
			if len(got) != 100 {
				t.Errorf("%d of 100 came", len(got))
			}
			p.Destroy()
			p.Destroy()
			p.Post(func() { t.Error("ran after Destroy") })
		}
	})
}

// A posted function that panics keeps no other from its turn, and none has one
// after Destroy.
func TestPosterTurn(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		p, err := h.NewPoster()
		if err != nil {
			t.Fatal(err)
		}
		var panicked []string
		forget := flux.OnPanic(func(text string) { panicked = append(panicked, text) })
		ran := 0
		p.Post(func() { panic("on purpose") })
		p.Post(func() { ran++ })
		p.Post(p.Destroy)
		p.Post(func() { t.Error("ran after Destroy") })
		return func() {
			forget()
			if ran != 1 || len(panicked) != 1 {
				t.Errorf("%d ran, panics: %q", ran, panicked)
			}
		}
	})
}

func TestWatchRead(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var got string
		watch, err := h.WatchRead(int(r.Fd()), true, func() {
			b := make([]byte, 10)
			n, _ := r.Read(b)
			got += string(b[:n])
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString("here"); err != nil {
			t.Fatal(err)
		}
		return func() {
			if got != "here" {
				t.Errorf("read %q", got)
			}
			watch.Destroy()
			r.Close()
			w.Close()
		}
	})
}

// call makes an RPC and keeps its answer.
type call struct {
	f       *flux.Future
	payload string
	err     error
	times   int
}

func rpc(t *testing.T, h *flux.Handle, topic, payload string, rank uint32, limit time.Duration) *call {
	t.Helper()
	f, err := h.RPC(topic, payload, rank, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &call{f: f}
	if err := f.Then(limit, func(f *flux.Future) {
		c.payload, c.err = f.Get()
		c.times++
		f.Destroy()
		f.Destroy()
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRequest(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		var handlers []*flux.MsgHandler
		handle := func(method string, fn func(*flux.Request)) {
			m, err := h.HandleRequest("probe."+method, 0, fn)
			if err != nil {
				t.Fatal(err)
			}
			handlers = append(handlers, m)
		}
		handle("echo", func(r *flux.Request) {
			payload, err := r.Payload()
			if err != nil || r.Topic() != "probe.echo" || r.Streaming() || r.NoResponse() {
				t.Errorf("request: %v %q", err, r.Topic())
			}
			if _, roles, err := r.Sender(); err != nil || roles&flux.RoleOwner == 0 {
				t.Errorf("sender: roles %x, %v", roles, err)
			}
			_ = r.Respond(payload)
		})
		handle("refuse", func(r *flux.Request) {
			_ = r.RespondError(&flux.Error{Num: syscall.EPROTO, Text: "no, thanks"})
		})
		handle("later", func(r *flux.Request) {
			kept := r.Keep()
			var timer *flux.Timer
			timer, err := h.After(time.Second, func() {
				_ = kept.Respond(`"late"`)
				kept.Release()
				kept.Release()
				timer.Destroy()
			})
			if err != nil {
				t.Error(err)
			}
		})
		handle("mute", func(*flux.Request) {})
		handle("panic", func(*flux.Request) { panic("on purpose") })

		echo := rpc(t, h, "probe.echo", `{"a":1}`, 0, time.Second)
		refuse := rpc(t, h, "probe.refuse", "", 0, time.Second)
		later := rpc(t, h, "probe.later", "", 0, 10*time.Second)
		mute := rpc(t, h, "probe.mute", "", 0, 2*time.Second)
		bug := rpc(t, h, "probe.panic", "", 0, 2*time.Second)
		nobody := rpc(t, h, "nosuch.method", "", 0, time.Second)
		return func() {
			if echo.err != nil || echo.payload != `{"a":1}` {
				t.Errorf("echo: %q, %v", echo.payload, echo.err)
			}
			if !errors.Is(refuse.err, syscall.EPROTO) || refuse.err.Error() != "no, thanks" {
				t.Errorf("refuse: %v", refuse.err)
			}
			if later.err != nil || later.payload != `"late"` {
				t.Errorf("later: %q, %v", later.payload, later.err)
			}
			if !errors.Is(mute.err, syscall.ETIMEDOUT) {
				t.Errorf("no answer: %v", mute.err)
			}
			if !errors.Is(bug.err, syscall.EPROTO) || !strings.Contains(bug.err.Error(), "internal error") {
				t.Errorf("a panic in a handler: %v", bug.err)
			}
			if !errors.Is(nobody.err, syscall.ENOSYS) {
				t.Errorf("no such service: %v", nobody.err)
			}
			for _, c := range []*call{echo, refuse, later, mute, bug, nobody} {
				if c.times != 1 {
					t.Errorf("an answer came %d times", c.times)
				}
			}
			for _, m := range handlers {
				m.Destroy()
				m.Destroy()
			}
		}
	})
}

func TestKVS(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		txn, err := flux.NewTxn()
		if err != nil {
			t.Fatal(err)
		}
		if err := txn.Put("a.b", `{"x":"ƒ"}`); err != nil {
			t.Fatal(err)
		}
		commit, err := h.Commit(txn)
		txn.Destroy()
		txn.Destroy()
		if err != nil {
			t.Fatal(err)
		}
		var got string
		var none error
		look := func(key string, fn func(string, error)) {
			f, err := h.Lookup(key)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Then(time.Second, func(f *flux.Future) {
				fn(f.Value())
				f.Destroy()
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := commit.Then(time.Second, func(f *flux.Future) {
			if err := f.Done(); err != nil {
				t.Error(err)
			}
			f.Destroy()
			look("a.b", func(v string, err error) { got = v })
			look("a.c", func(_ string, err error) { none = err })
		}); err != nil {
			t.Fatal(err)
		}
		return func() {
			if got != `{"x":"ƒ"}` {
				t.Errorf("value %q", got)
			}
			if !errors.Is(none, syscall.ENOENT) {
				t.Errorf("no such key: %v", none)
			}
		}
	})
}

func TestEvent(t *testing.T) {
	with(t, func(in *embed.Instance, h *flux.Handle) func() {
		var got []string
		m, err := h.HandleEvent("probe.*", func(topic, payload string) { got = append(got, topic+payload) })
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Subscribe("probe."); err != nil {
			t.Fatal(err)
		}
		in.Publish("probe.a", `{"n":1}`)
		in.Publish("other.b", "")
		return func() {
			if len(got) != 1 || got[0] != `probe.a{"n":1}` {
				t.Errorf("events %q", got)
			}
			if err := h.Unsubscribe("probe."); err != nil {
				t.Error(err)
			}
			m.Destroy()
		}
	})
}

func TestJobKey(t *testing.T) {
	key, err := flux.JobKey(1, "R")
	if err != nil || key != "job.0000.0000.0000.0001.R" {
		t.Errorf("%q, %v", key, err)
	}
}

func TestErrno(t *testing.T) {
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{&flux.Error{Num: syscall.ENOENT, Text: "x"}, syscall.ENOENT},
		{fmt.Errorf("wrapped: %w", &flux.Error{Num: syscall.EPERM}), syscall.EPERM},
		{syscall.ESRCH, syscall.ESRCH},
		{errors.New("plain"), syscall.EIO},
		{nil, syscall.EIO},
	} {
		if got := flux.Errno(c.err, syscall.EIO); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}
