// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"errors"
	"testing"

	systemd1 "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

func TestWatchedState(t *testing.T) {
	for _, c := range []struct {
		load, active string
		want         State
	}{
		{"loaded", "active", Up},
		{"loaded", "reloading", Up},
		{"loaded", "refreshing", Up},
		{"loaded", "inactive", Down},
		{"loaded", "failed", Down},
		{"masked", "inactive", Down},
		{"loaded", "activating", Unknown},
		{"loaded", "deactivating", Unknown},
		{"loaded", "maintenance", Unknown},
		{"not-found", "inactive", Absent},
		{"not-found", "failed", Absent},
		{"not-found", "active", Up},
	} {
		w := newWatched("a.service")
		if _, known := w.state(); known {
			t.Fatal("known before it was asked for")
		}
		w.learn(systemd1.UnitStatus{LoadState: c.load, ActiveState: c.active}, 0)
		if s, known := w.state(); s != c.want || !known {
			t.Errorf("%s and %s is %v, want %v", c.load, c.active, s, c.want)
		}
	}
}

// An answer that a signal overtook is not believed.
func TestWatchedOvertaken(t *testing.T) {
	w := newWatched("a.service")
	before := w.version()
	w.changed(map[string]dbus.Variant{"ActiveState": dbus.MakeVariant("active")}, nil)
	answer := systemd1.UnitStatus{LoadState: "loaded", ActiveState: "inactive"}
	if w.learn(answer, before) {
		t.Fatal("an answer of before the signal was taken")
	}
	if !w.learn(answer, w.version()) {
		t.Fatal("an answer of after the signal was refused")
	}
	w.changed(nil, []string{"ActiveState"})
	if _, known := w.state(); known {
		t.Error("known, though the signal says that it changed")
	}
}

// The end of a job may be told before the request for it is answered, and is
// not kept from one order to the next.
func TestWatchedJobs(t *testing.T) {
	w := newWatched("a.service")
	lost := make(chan struct{})
	w.jobEnded(1, "done") // nobody expects one
	w.expect()
	w.jobEnded(2, "failed")
	if r, err := w.result(context.Background(), 2, lost); r != "failed" || err != nil {
		t.Error(r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.result(ctx, 1, lost); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(lost)
	if _, err := w.result(context.Background(), 1, lost); !isLost(err) {
		t.Error(err)
	}
}

// A systemd that comes back under another name while its name is asked for
// makes the link useless.
func TestLinkOwner(t *testing.T) {
	l := &link{units: map[string]*watched{}}
	tell := func(name string) {
		l.DeliverSignal("", "", &dbus.Signal{Sender: busName, Name: busName + ".NameOwnerChanged",
			Body: []any{name, ":1.1", ":1.2"}})
	}
	tell("org.example")
	if l.moved {
		t.Error("another's name")
	}
	tell(managerName)
	if !l.moved {
		t.Error("the change was not seen")
	}
}

func TestBackoff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b backoff
	for range 20 {
		if b.wait(ctx) {
			t.Fatal("waited after the end")
		}
	}
	if b.next != backoffLast {
		t.Errorf("%s after many tries, want %s", b.next, backoffLast)
	}
}
