// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	systemd1 "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

const (
	busName     = "org.freedesktop.DBus"
	managerName = "org.freedesktop.systemd1"
	managerPath = "/org/freedesktop/systemd1"
	managerIntf = "org.freedesktop.systemd1.Manager"
	unitIntf    = "org.freedesktop.systemd1.Unit"
	propsIntf   = "org.freedesktop.DBus.Properties"
)

// A link is one connection to the bus and what was learnt over it. It ends
// when the bus or systemd goes away, and everything learnt ends with it: the
// next one starts from nothing.
//
// Signals come in by [link.DeliverSignal].
type link struct {
	bus *dbus.Conn
	mgr *systemd1.Conn
	// setup is held while the watch of a unit is set up; a channel, so that
	// the wait for it can be given up.
	setup chan struct{}

	mu sync.Mutex
	// owner is systemd's own name on the bus. Only signals from there count.
	owner string
	// moved says that systemd's name changed before owner was known.
	moved bool
	units map[string]*watched
	// quiet is what go-systemd wants to have signals sent to; see AddSignal.
	quiet []chan<- *dbus.Signal
	// noticed is told of units whose ActiveState changed, or may have.
	noticed func(unit string)
}

// connectTimeout limits one try to connect. A longer wait is the back-off's.
const connectTimeout = 10 * time.Second

// newLink connects to the bus at addr and subscribes to systemd's signals. ctx
// limits the setting up, life is how long the link may last.
func newLink(ctx, life context.Context, addr string, options []dbus.ConnOption, noticed func(string)) (*link, error) {
	l := &link{setup: make(chan struct{}, 1), units: map[string]*watched{}, noticed: noticed}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	life, end := context.WithCancel(life)
	// godbus authenticates without a limit of its own. A bus that takes the
	// connection and then says nothing is cut off by the end of life.
	stop := context.AfterFunc(ctx, end)
	err := l.connect(ctx, life, addr, options)
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		stop()
		end()
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer: %w", ctx.Err())
		}
		return nil, fmt.Errorf("system bus %s: %w", addr, err)
	}
	context.AfterFunc(l.bus.Context(), func() {
		end()
		l.ended()
	})
	return l, nil
}

// ended is called once the link is gone. Until there is another nobody tells
// what becomes of the units, so whoever follows them is to look.
func (l *link) ended() {
	l.mu.Lock()
	units := slices.Collect(maps.Keys(l.units))
	l.mu.Unlock()
	for _, unit := range units {
		l.noticed(unit)
	}
}

func (l *link) connect(ctx, life context.Context, addr string, options []dbus.ConnOption) error {
	options = append([]dbus.ConnOption{dbus.WithContext(life), dbus.WithSignalHandler(l),
		// By number: a look-up of the user's name may go to the network.
		dbus.WithAuth(dbus.AuthExternal(strconv.Itoa(os.Geteuid())))}, options...)
	var err error
	l.bus, err = dbus.Connect(addr, options...)
	if err != nil {
		return err
	}
	// go-systemd wants two connections so that it can make calls from the
	// goroutine of its signals. Nothing here does, and one connection keeps
	// signals and replies in the order in which systemd sent them.
	l.mgr, err = systemd1.NewConnection(func() (*dbus.Conn, error) { return l.bus, nil })
	if err != nil {
		return err
	}
	// It also has every job of every unit told, which would wake this process
	// for each of them. A watch asks for its own unit's jobs.
	err = l.bus.BusObject().CallWithContext(ctx, busName+".RemoveMatch", 0,
		"type='signal',interface='"+managerIntf+"',member='JobRemoved'").Err
	if err != nil {
		return err
	}
	// Before the question who systemd is, so that no change is missed.
	err = l.match(ctx, dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, managerName))
	if err != nil {
		return err
	}
	var owner string
	err = l.bus.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, managerName).Store(&owner)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.owner = owner
	moved := l.moved
	l.mu.Unlock()
	if moved {
		return errLost
	}
	err = l.match(ctx, dbus.WithMatchSender(managerName), dbus.WithMatchInterface(managerIntf),
		dbus.WithMatchMember("Reloading"))
	if err != nil {
		return err
	}
	return l.bus.Object(managerName, managerPath).
		CallWithContext(ctx, managerIntf+".Subscribe", 0).Err
}

func (l *link) match(ctx context.Context, rule ...dbus.MatchOption) error {
	return l.bus.AddMatchSignalContext(ctx, rule...)
}

// alive tells whether the link can still be used. A nil link can't.
func (l *link) alive() bool {
	return l != nil && l.bus.Connected()
}

// drop ends the link. It may be called twice. The closing waits for messages
// on their way out, hence the goroutine.
func (l *link) drop() {
	go l.bus.Close()
}

// remembers answers from memory what a unit is.
func (l *link) remembers(unit string) (State, bool) {
	l.mu.Lock()
	w := l.units[unit]
	l.mu.Unlock()
	if w == nil {
		return Unknown, false
	}
	return w.state()
}

// watch returns what is known of a unit, and asks systemd where that is
// nothing. From then on systemd's signals keep it true.
func (l *link) watch(ctx context.Context, unit string) (*watched, error) {
	select {
	case l.setup <- struct{}{}:
		defer func() { <-l.setup }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	w := l.units[unit]
	if w == nil {
		w = newWatched(unit)
		l.units[unit] = w
	}
	l.mu.Unlock()
	if state, known := w.state(); known && state != Absent {
		return w, nil
	}
	// An absent unit is asked for each time: a package may have brought it.
	return w, l.refresh(ctx, w)
}

// refresh asks systemd for a unit's state, and has it loaded for that.
//
// A unit has an object per name but changes are told under its first name
// only, which may be another after a reload of systemd. So the watch of the
// name in the answer comes first, and the answer counts if it was watched.
func (l *link) refresh(ctx context.Context, w *watched) error {
	name := w.name
	for {
		if !w.follows(name) {
			if err := l.follow(ctx, w, name); err != nil {
				return err
			}
		}
		before := w.version()
		// A short answer, where all properties of a unit are a hundred.
		list, err := l.mgr.ListUnitsByNamesContext(ctx, []string{w.name})
		if err != nil {
			return err
		}
		if len(list) != 1 {
			return fmt.Errorf("systemd knows no unit %s: a unit has a name like nnf-clientmount.service", w.name)
		}
		name = list[0].Name
		// A signal that came in with the answer may be older or newer.
		if w.follows(name) && w.learn(list[0], before) {
			return nil
		}
	}
}

// follow has systemd tell the changes and jobs of the unit of this name.
func (l *link) follow(ctx context.Context, w *watched, name string) error {
	path := unitPath(name)
	// Before the rules: what they bring must find its way to w.
	w.addName(name, path)
	err := l.match(ctx, dbus.WithMatchSender(managerName), dbus.WithMatchObjectPath(path),
		dbus.WithMatchInterface(propsIntf), dbus.WithMatchMember("PropertiesChanged"),
		dbus.WithMatchArg(0, unitIntf))
	if err == nil {
		err = l.match(ctx, dbus.WithMatchSender(managerName), dbus.WithMatchInterface(managerIntf),
			dbus.WithMatchMember("JobRemoved"), dbus.WithMatchArg(2, name))
	}
	if err != nil {
		w.dropName(name)
	}
	return err
}

func unitPath(name string) dbus.ObjectPath {
	return dbus.ObjectPath(managerPath + "/unit/" + systemd1.PathBusEscape(name))
}
