// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// Method "systemd".
//
// A systemd has one connection to the bus, its link, made when it is first
// needed. When it is gone, because the bus or systemd was started anew, whoever
// follows the units is told that they may have changed; the question what they
// are makes the next one. The link has systemd tell every change of the units
// that were ever asked for, and of no other, so that State answers from memory.
// An order has a goroutine for as long as the unit has orders. Between orders
// there are a goroutine that waits for the socket and no timer at all: an idle
// node is left alone.
//
// Bus addresses are those of dbus-daemon(1), the calls and signals those of
// org.freedesktop.systemd1(5).

// SystemdConfig says where the service manager is. The zero value is right for
// any real node.
type SystemdConfig struct {
	// Address is the bus address. Where it is empty, DBUS_SYSTEM_BUS_ADDRESS
	// of the environment counts, and then the usual socket.
	Address string
	// Changed is called on the reactor's thread when a unit that was ever asked
	// for was started or stopped, or ended, by something else than an order, or
	// may have been: the bus or systemd went away.
	Changed func(unit string)
}

// defaultBusAddress is where the D-Bus specification has the system bus.
const defaultBusAddress = "unix:path=/run/dbus/system_bus_socket"

func (c SystemdConfig) address() string {
	if c.Address != "" {
		return c.Address
	}
	if a := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"); a != "" {
		return a
	}
	return defaultBusAddress
}

// stateTimeout limits what State may take where memory has no answer.
const stateTimeout = 5 * time.Second

// NewSystemd returns a controller that asks systemd by D-Bus. post hands a
// function to the reactor's thread, from any goroutine, without blocking. The
// bus is not touched before the first order or question.
func NewSystemd(post func(func()), cfg SystemdConfig) Controller {
	s := &systemd{post: post, addr: cfg.address(), changed: cfg.Changed, units: map[string]*orders{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.dialing = make(chan struct{}, 1)
	return s
}

type systemd struct {
	post func(func())
	addr string
	// changed is SystemdConfig's, or nil.
	changed func(unit string)
	// options are a test's, for its links.
	options []dbus.ConnOption
	// ctx ends with Close and takes everything that is under way with it.
	ctx    context.Context
	cancel context.CancelFunc
	// dialing is held by the goroutine that makes a link. It is a channel so
	// that the wait for it can be given up.
	dialing chan struct{}

	mu    sync.Mutex
	link  *link
	units map[string]*orders
}

// orders are what is still to be done for one unit, the first one under way.
// An empty list is not kept.
type orders struct {
	list []pending
}

type pending struct {
	order Order
	done  func(error)
}

func (s *systemd) Do(o Order, done func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if q := s.units[o.Unit]; q != nil {
		q.list = append(q.list, pending{o, done})
		return
	}
	s.units[o.Unit] = &orders{list: []pending{{o, done}}}
	go s.work(o.Unit)
}

// work carries out the orders of one unit, one after the other, until there
// are none left.
func (s *systemd) work(unit string) {
	for {
		s.mu.Lock()
		p := s.units[unit].list[0]
		s.mu.Unlock()

		err := s.guarded(p.order)

		s.mu.Lock()
		q := s.units[unit]
		q.list = q.list[1:]
		last := len(q.list) == 0
		if last {
			delete(s.units, unit)
		}
		s.mu.Unlock()
		// Only now: whoever is told must find State to be of after the order.
		s.tell(func() { p.done(err) })
		if last {
			return
		}
	}
}

// guarded carries out an order. A panic would end the broker, and with it the
// instance: it becomes this order's error.
func (s *systemd) guarded(o Order) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s %s: internal error: %v", o.Verb, o.Unit, r)
		}
	}()
	if err := o.check(); err != nil {
		return err
	}
	return s.perform(o)
}

func (s *systemd) State(unit string, done func(State, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if s.units[unit] != nil {
		s.tell(func() { done(Unknown, nil) })
		return
	}
	if state, known := s.remembers(unit); known {
		s.tell(func() { done(state, nil) })
		return
	}
	go func() {
		state, err := s.ask(unit)
		s.tell(func() { done(state, err) })
	}()
}

// Remember implements Memory by what systemd's signals said.
func (s *systemd) Remember(unit string) (State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || s.units[unit] != nil {
		return Unknown, false
	}
	return s.remembers(unit)
}

// remembers is called with mu held.
func (s *systemd) remembers(unit string) (State, bool) {
	if !s.link.alive() {
		return Unknown, false
	}
	state, known := s.link.remembers(unit)
	// An absent unit is asked for: a package may have brought it.
	return state, known && state != Absent
}

// ask finds out what a unit is. Only its failure to use a link that turns out
// to be dead is tried again: a node without a bus shall say so at once.
func (s *systemd) ask(unit string) (state State, err error) {
	defer func() {
		if r := recover(); r != nil {
			state, err = Unknown, fmt.Errorf("%s %s: internal error: %v", Status, unit, r)
		}
	}()
	ctx, cancel := context.WithTimeout(s.ctx, stateTimeout)
	defer cancel()
	for try := 0; ; try++ {
		var l *link
		l, err = s.acquire(ctx)
		if err == nil {
			var w *watched
			if w, err = l.watch(ctx, unit); err == nil {
				state, _ = w.state()
				return state, nil
			}
		}
		if l == nil || l.alive() || try > 0 || ctx.Err() != nil {
			return Unknown, fmt.Errorf("%s %s: %s", Status, unit, explain(err))
		}
	}
}

// noticed hears of a unit whose ActiveState changed, or may have, on a goroutine
// of the link's.
func (s *systemd) noticed(unit string) {
	s.mu.Lock()
	ordered := s.units[unit] != nil
	s.mu.Unlock()
	if !ordered && s.changed != nil {
		s.tell(func() { s.changed(unit) })
	}
}

// tell calls f on the reactor's thread unless the controller was closed by
// then. Close and f run on the same thread, so the test can't be overtaken.
func (s *systemd) tell(f func()) {
	s.post(func() {
		if s.ctx.Err() == nil {
			f()
		}
	})
}

func (s *systemd) Close() {
	s.cancel()
}

// acquire returns a link that is alive, and makes one where there is none.
func (s *systemd) acquire(ctx context.Context) (*link, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l.alive() {
		return l, nil
	}
	l, err := newLink(ctx, s.ctx, s.addr, s.options, s.noticed)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.link = l
	s.mu.Unlock()
	return l, nil
}
