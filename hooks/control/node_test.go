// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// node is a controller with a reactor, and the machine it controls.
type node struct {
	*reactor
	t  *testing.T
	m  *testMachine
	c  Controller
	sd *systemd
	// sent and received count the messages of its links.
	sent, received atomic.Int64
	// changed counts the changes that were noticed.
	changed atomic.Int64
}

func newNode(t *testing.T, m *testMachine) *node {
	n := &node{reactor: newReactor(t), t: t, m: m}
	addr := ""
	if m != nil {
		addr = m.Bus()
	}
	n.open(addr)
	return n
}

func (n *node) open(addr string) {
	n.c = NewSystemd(n.post, SystemdConfig{Address: addr, Changed: func(string) { n.changed.Add(1) }})
	n.sd = n.c.(*systemd)
	n.sd.options = []dbus.ConnOption{
		dbus.WithOutgoingInterceptor(func(*dbus.Message) { n.sent.Add(1) }),
		dbus.WithIncomingInterceptor(func(*dbus.Message) { n.received.Add(1) }),
	}
	n.t.Cleanup(func() { n.run(n.c.Close) })
}

// order gives an order; the channel has its end.
func (n *node) order(verb Verb, unit string, limit time.Duration) <-chan error {
	ch := make(chan error, 2)
	n.run(func() {
		returned := false
		n.c.Do(Order{Verb: verb, Unit: unit, Timeout: limit}, func(err error) {
			if !returned || !n.inside.Load() {
				err = fmt.Errorf("done was called inside Do or off the reactor's thread (%v)", err)
			}
			ch <- err
		})
		returned = true
	})
	return ch
}

func (n *node) do(verb Verb, unit string) error {
	n.t.Helper()
	return await(n.t, n.order(verb, unit, 10*time.Second))
}

func (n *node) mustDo(verb Verb, unit string) {
	n.t.Helper()
	if err := n.do(verb, unit); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) state(unit string) (State, error) {
	n.t.Helper()
	type answer struct {
		s   State
		err error
	}
	ch := make(chan answer, 1)
	n.run(func() { n.c.State(unit, func(s State, err error) { ch <- answer{s, err} }) })
	a := await(n.t, ch)
	return a.s, a.err
}

func (n *node) mustBe(unit string, want State) {
	n.t.Helper()
	if s, err := n.state(unit); err != nil || s != want {
		n.t.Fatalf("%s is %v (%v), want %v", unit, s, err, want)
	}
}

// becomes waits until State has the wanted answer.
func (n *node) becomes(unit string, want State) {
	n.t.Helper()
	n.until(fmt.Sprintf("%s is %v", unit, want), func() bool {
		s, err := n.state(unit)
		return err == nil && s == want
	})
}

// until waits for what happens by itself.
func (n *node) until(what string, cond func() bool) {
	n.t.Helper()
	for limit := time.Now().Add(waitLimit); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			n.t.Fatalf("not in %s: %s", waitLimit, what)
		}
	}
}

// untilActivating waits until systemd is busy with the start of a unit.
func (n *node) untilActivating(unit string) {
	n.t.Helper()
	w := n.mustWatch(unit)
	n.until(unit+" is activating", func() bool { return w.is("activating", "") })
}

func (n *node) link() *link {
	n.sd.mu.Lock()
	defer n.sd.mu.Unlock()
	return n.sd.link
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Fatalf("error is %v, want %q in it", err, p)
		}
	}
}
