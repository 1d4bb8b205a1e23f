// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// order is a module that asks a service, and notes what comes: the answer's
// continuation, and requests.
type order struct {
	got []string
	f   *flux.Future
	mh  *flux.MsgHandler
}

func (o *order) start(h *flux.Handle, _ []string) (stop func(), err error) {
	if o.mh, err = h.HandleRequest("order.note", 0, func(r *flux.Request) {
		p, _ := r.Payload()
		o.got = append(o.got, p)
	}); err != nil {
		return nil, err
	}
	if o.f, err = h.RPC("other.ask", "", 0, 0); err != nil {
		return nil, err
	}
	err = o.f.Then(flux.Forever, func(*flux.Future) { o.got = append(o.got, "answer") })
	return func() { o.mh.Destroy(); o.f.Destroy() }, err
}

// A continuation is called before the next message, and messages of one sender
// stay in their order, also those that a stopped process gets late.
func TestContinuationBeforeMessage(t *testing.T) {
	for seed := range uint64(40) {
		in := embed.New(embed.Options{Seed: seed})
		o := &order{}
		c := in.Client(0)
		n := 0
		send := func() {
			n++
			c.Request(0, "order.note", fmt.Sprintf(`{"n":%d}`, n), 0, nil)
		}
		var asked *embed.Request
		in.Service("other", func(r *embed.Request) { asked = r })
		m, err := in.LoadModule(0, "order", nil, o.start)
		if err != nil {
			t.Fatal(err)
		}
		in.Settle()
		asked.Respond("{}")
		in.Step()
		m.Pause()
		for range 3 {
			send()
		}
		in.Advance(time.Second)
		stopped := len(o.got)
		m.Resume()
		send()
		in.Advance(time.Second)
		if got := strings.Join(o.got, " "); stopped > 1 || got != `answer {"n":1} {"n":2} {"n":3} {"n":4}` {
			t.Errorf("seed %d: %d came to a stopped process, then %s", seed, stopped, got)
		}
		c.Close()
		m.Unload()
		closed(t, in)
	}
}
