// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"syscall"
	"testing"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// Each request is answered once: by its function, by who catches its panic, or
// at the end.
func TestRequestsAnsweredOnce(t *testing.T) {
	defer flux.OnPanic(func(string) {})()
	in := embed.New(embed.Options{})
	var pending requests
	m, err := in.LoadModule(0, "probe", nil, func(h *flux.Handle, _ []string) (func(), error) {
		pending = newRequests(h)
		var handlers []*flux.MsgHandler
		for method, fn := range map[string]func(string, func(string, error)){
			"now":   func(p string, reply func(string, error)) { reply(p, nil); reply(p, nil) },
			"later": func(string, func(string, error)) {},
			"panic": func(string, func(string, error)) { panic("on purpose") },
			"both":  func(p string, reply func(string, error)) { reply(p, nil); panic("on purpose") },
		} {
			mh, err := h.HandleRequest("probe."+method, 0, func(r *flux.Request) { pending.answer(r, fn) })
			if err != nil {
				return nil, err
			}
			handlers = append(handlers, mh)
		}
		return func() {
			for _, mh := range handlers {
				mh.Destroy()
			}
			pending.end(&flux.Error{Num: syscall.EAGAIN, Text: "the end"})
			pending.end(&flux.Error{Num: syscall.EAGAIN, Text: "the end"})
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]syscall.Errno{}
	for _, method := range []string{"now", "later", "panic", "both"} {
		in.Client(0).Request(0, "probe."+method, "{}", 0, func(r embed.Response) { answers[method] = append(answers[method], r.Errno) })
	}
	in.Settle()
	if n := len(pending.kept); n != 1 {
		t.Errorf("%d wait for their answer", n)
	}
	m.Unload()
	in.Settle()
	for method, want := range map[string]syscall.Errno{"now": 0, "later": syscall.EAGAIN, "panic": syscall.EPROTO, "both": 0} {
		if got := answers[method]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %d", method, got, want)
		}
	}
	in.Close()
	if l := in.Leaks(); len(l) > 0 {
		t.Errorf("leaked: %v", l)
	}
}
