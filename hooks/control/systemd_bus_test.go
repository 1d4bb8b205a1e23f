// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// testForged has another user of the bus send what only systemd should.
func testForged(n *node) {
	n.mustDo(Start, "sleeper.service")
	other, err := dbus.Connect(n.m.Bus())
	if err != nil {
		n.t.Fatal(err)
	}
	defer other.Close()
	start := n.order(Start, "slow.service", 10*time.Second)
	n.untilActivating("slow.service")
	forge := func(path dbus.ObjectPath, intf, member string, body ...any) {
		msg := &dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath:        dbus.MakeVariant(path),
			dbus.FieldInterface:   dbus.MakeVariant(intf),
			dbus.FieldMember:      dbus.MakeVariant(member),
			dbus.FieldDestination: dbus.MakeVariant(n.link().bus.Names()[0]),
		}}
		if len(body) > 0 {
			msg.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
		}
		other.Send(msg, nil)
	}
	for id := range uint32(200) {
		forge(managerPath, managerIntf, "JobRemoved", id, dbus.ObjectPath("/x"), "slow.service", "done")
	}
	forge(managerPath, managerIntf, "JobRemoved")
	forge(managerPath, managerIntf, "Reloading", "x")
	forge(managerPath, managerIntf, "UnitNew")
	forge(managerPath, propsIntf, "PropertiesChanged")
	forge(unitPath("sleeper.service"), propsIntf, "PropertiesChanged", unitIntf,
		map[string]dbus.Variant{"ActiveState": dbus.MakeVariant("inactive")}, []string{})
	forge(managerPath, busName, "NameOwnerChanged", managerName, "", ":1.1")
	// A reply from the bus comes after all of them.
	if err := other.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil {
		n.t.Fatal(err)
	}
	if err := n.link().bus.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil {
		n.t.Fatal(err)
	}
	n.mustBe("sleeper.service", Up)
	select {
	case err := <-start:
		n.t.Fatalf("a forged signal ended the start: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	n.m.must(n.t, "systemctl", "stop", "slow.service", "sleeper.service")
	await(n.t, start)
}

func (n *node) mustWatch(unit string) *watched {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	l, err := n.sd.acquire(ctx)
	if err != nil {
		n.t.Fatal(err)
	}
	w, err := l.watch(ctx, unit)
	if err != nil {
		n.t.Fatal(err)
	}
	return w
}

// testReexec has systemd start itself anew, under an order and without one.
func testReexec(n *node) {
	n.mustDo(Start, "sleeper.service")
	start := n.order(Start, "slowish.service", 10*time.Second)
	n.untilActivating("slowish.service")
	n.m.must(n.t, "systemctl", "daemon-reexec")
	if err := await(n.t, start); err != nil {
		n.t.Fatal(err)
	}
	n.becomes("sleeper.service", Up)
	n.becomes("slowish.service", Up)
	n.mustDo(Stop, "slowish.service")
	n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "sleeper.service")
	n.becomes("sleeper.service", Down)
}

// killBus kills the bus. systemd starts it again for the next that connects.
func (n *node) killBus() {
	n.t.Helper()
	n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "dbus.service")
}

func testBusRestart(n *node) {
	n.mustDo(Start, "sleeper.service")
	l := n.link()
	n.killBus()
	n.until("the connection is gone", func() bool { return !l.alive() })
	n.mustDo(Stop, "sleeper.service")
	n.mustBe("sleeper.service", Down)
	// And signals come over the new link.
	n.mustDo(Start, "sleeper.service")
	n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "sleeper.service")
	n.becomes("sleeper.service", Down)
}

// testDeaf: nothing is asked for when the bus or systemd starts anew, and a unit
// that ends after that is noticed all the same, by whoever looks when told to.
func testDeaf(n *node) {
	for name, anew := range map[string]func(){
		"the bus": n.killBus,
		"systemd": func() { n.m.must(n.t, "systemctl", "daemon-reexec") },
	} {
		n.mustDo(Start, "sleeper.service")
		changed := n.changed.Load()
		anew()
		n.until("told that "+name+" was started anew", func() bool { return n.changed.Load() > changed })
		n.becomes("sleeper.service", Up)
		changed = n.changed.Load()
		n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "sleeper.service")
		n.until("told that the unit ended", func() bool { return n.changed.Load() > changed })
		n.mustBe("sleeper.service", Down)
	}
}

func testBusRestartUnderOrder(n *node) {
	start := n.order(Start, "slowish.service", 15*time.Second)
	n.untilActivating("slowish.service")
	n.killBus()
	if err := await(n.t, start); err != nil {
		n.t.Fatal(err)
	}
	n.mustBe("slowish.service", Up)
	n.mustDo(Stop, "slowish.service")
}

// testBusGone has no bus at all for a while. It is the last: the bus of this
// machine does not come back by itself.
func testBusGone(n *node) {
	n.mustDo(Stop, "sleeper.service")
	n.m.must(n.t, "systemctl", "stop", "dbus.socket", "dbus.service")
	n.until("the connection is gone", func() bool { return !n.link().alive() })
	begin := time.Now()
	err := await(n.t, n.order(Start, "sleeper.service", 400*time.Millisecond))
	n.t.Logf("%v", err)
	wantError(n.t, err, "start sleeper.service:", "not reached in 400ms", "system bus unix:path=")
	if d := time.Since(begin); d > 20*time.Second {
		n.t.Fatalf("took %s", d)
	}
	_, err = n.state("sleeper.service")
	wantError(n.t, err, "status sleeper.service:", "system bus")
	start := n.order(Start, "sleeper.service", 15*time.Second)
	n.m.must(n.t, "systemctl", "start", "dbus.socket")
	if err := await(n.t, start); err != nil {
		n.t.Fatal(err)
	}
	n.mustDo(Stop, "sleeper.service")
}

// TestSystemdSilentBus has a bus that takes connections and never answers.
func TestSystemdSilentBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := newNode(t, nil)
	n.open("unix:path=" + path)
	err = await(t, n.order(Start, "sleeper.service", 200*time.Millisecond))
	t.Logf("%v", err)
	wantError(t, err, "start sleeper.service:", "200ms")
}

// TestSystemdNoBus has no bus.
func TestSystemdNoBus(t *testing.T) {
	n := newNode(t, nil)
	n.open("unix:path=" + filepath.Join(t.TempDir(), "bus"))
	err := await(t, n.order(Start, "sleeper.service", 200*time.Millisecond))
	wantError(t, err, "start sleeper.service:", "no such file")
	if _, err := n.state("sleeper.service"); err == nil {
		t.Fatal("a state without a bus")
	}
	wantError(t, n.do(Status, "sleeper.service"), "start or stop")
	wantError(t, await(t, n.order(Start, "sleeper.service", 0)), "timeout")
}
