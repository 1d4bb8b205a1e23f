// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"github.com/godbus/dbus/v5"
)

// Signals from the bus.
//
// Any user of the machine may send a signal of any name and content to this
// connection. One that was believed could end a start before its time, and one
// of an unexpected shape brings go-systemd's own goroutine down, and the
// broker with it. So a link takes the signals itself, tests who sent them, and
// gives none to go-systemd.

// DeliverSignal takes a signal. It is called by godbus on its reading
// goroutine, in the order of arrival.
func (l *link) DeliverSignal(_, _ string, sig *dbus.Signal) {
	defer func() {
		if recover() != nil {
			l.drop() // What was learnt can't be trusted any more.
		}
	}()
	for _, unit := range l.take(sig) {
		l.noticed(unit)
	}
}

// take learns from a signal, and gives the units whose ActiveState it changed.
func (l *link) take(sig *dbus.Signal) (changed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case sig.Sender == busName && sig.Name == busName+".NameOwnerChanged":
		l.ownerChanged(sig.Body)
	case l.owner == "" || sig.Sender != l.owner:
	case sig.Name == managerIntf+".JobRemoved":
		l.jobRemoved(sig.Body)
	case sig.Name == propsIntf+".PropertiesChanged":
		return l.propertiesChanged(sig.Path, sig.Body)
	case sig.Name == managerIntf+".Reloading":
		// Units may have come, gone or changed: forget all of them.
		for _, w := range l.units {
			w.forget()
		}
	}
	return nil
}

// ownerChanged sees systemd leave the bus or come back under another name.
func (l *link) ownerChanged(body []any) {
	var name, was, is string
	if dbus.Store(body, &name, &was, &is) != nil || name != managerName {
		return
	}
	if l.owner == "" {
		l.moved = true
	} else if is != l.owner {
		l.drop()
	}
}

func (l *link) jobRemoved(body []any) {
	var id uint32
	var job dbus.ObjectPath
	var unit, result string
	if dbus.Store(body, &id, &job, &unit, &result) != nil {
		return
	}
	for _, w := range l.units {
		if w.follows(unit) {
			w.jobEnded(id, result)
		}
	}
}

func (l *link) propertiesChanged(path dbus.ObjectPath, body []any) (units []string) {
	var intf string
	var changed map[string]dbus.Variant
	var invalid []string
	if dbus.Store(body, &intf, &changed, &invalid) != nil || intf != unitIntf {
		return nil
	}
	for _, w := range l.units {
		if w.isAt(path) && w.changed(changed, invalid) {
			units = append(units, w.name)
		}
	}
	return units
}

// AddSignal takes go-systemd's channel. Nothing is ever sent there: what it
// would do with a signal is done here. godbus asks for this method.
func (l *link) AddSignal(ch chan<- *dbus.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = append(l.quiet, ch)
}

// RemoveSignal is there because godbus asks for it.
func (l *link) RemoveSignal(chan<- *dbus.Signal) {}

// Terminate is called by godbus once, when the connection ends. It ends
// go-systemd's goroutine, and the waits for jobs.
func (l *link) Terminate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ch := range l.quiet {
		close(ch)
	}
	l.quiet = nil
}
