// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

// TestSystemd is one test since all parts share a machine.
func TestSystemd(t *testing.T) {
	m := bootMachine(t)
	parts := []struct {
		name string
		test func(*node)
	}{
		{"StartStop", testStartStop},
		{"Changed", testChanged},
		{"Absent", testAbsent},
		{"Appears", testAppears},
		{"Masked", testMasked},
		{"Fails", testFails},
		{"Oneshot", testOneshot},
		{"Slow", testSlow},
		{"OnItsWay", testOnItsWay},
		{"OutsideChange", testOutsideChange},
		{"Alias", testAlias},
		{"TwentyInARow", testTwentyInARow},
		{"InOrder", testInOrder},
		{"UnitsApart", testUnitsApart},
		{"Replaced", testReplaced},
		{"Forged", testForged},
		{"Idle", testIdle},
		{"Close", testClose},
		{"SystemdReexec", testReexec},
		{"BusRestart", testBusRestart},
		{"BusRestartUnderOrder", testBusRestartUnderOrder},
		{"BusGone", testBusGone},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			p.test(newNode(t, m))
		})
	}
}

func testStartStop(n *node) {
	n.mustBe("sleeper.service", Down)
	n.mustDo(Start, "sleeper.service")
	n.mustBe("sleeper.service", Up)
	if got := n.m.must(n.t, "systemctl", "is-active", "sleeper.service"); got != "active" {
		n.t.Fatalf("systemctl says %s", got)
	}
	n.mustDo(Start, "sleeper.service") // as wanted already
	n.mustDo(Stop, "sleeper.service")
	n.mustBe("sleeper.service", Down)
	n.mustDo(Stop, "sleeper.service")
}

// testChanged has a service ended and started by somebody else.
func testChanged(n *node) {
	n.mustDo(Start, "sleeper.service")
	n.mustDo(Stop, "sleeper.service")
	n.mustDo(Start, "sleeper.service")
	if c := n.changed.Load(); c != 0 {
		n.t.Fatalf("%d orders were noticed as somebody else's", c)
	}
	n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "sleeper.service")
	n.until("its end is noticed", func() bool { return n.changed.Load() > 0 })
	n.becomes("sleeper.service", Down)
	before := n.changed.Load()
	n.m.must(n.t, "systemctl", "start", "sleeper.service")
	n.until("its start is noticed", func() bool { return n.changed.Load() > before })
	n.mustDo(Stop, "sleeper.service")
}

func testAbsent(n *node) {
	for _, verb := range []Verb{Start, Stop} {
		if err := n.do(verb, "nowhere.service"); !errors.Is(err, ErrAbsent) {
			n.t.Fatalf("%s of an absent unit: %v", verb, err)
		}
	}
	n.mustBe("nowhere.service", Absent)
	wantError(n.t, n.do(Start, "no/unit"), "start", "no/unit", "not the name of a unit")
	wantError(n.t, n.do(Start, "nounit"), "start nounit:")
}

// testAppears installs a unit after it was found to be absent, and removes it.
func testAppears(n *node) {
	n.mustBe("late.service", Absent)
	file := n.m.Root + "/run/systemd/system/late.service"
	if err := os.WriteFile(file, []byte(testUnits.Files["sleeper.service"]), 0o644); err != nil {
		n.t.Fatal(err)
	}
	n.mustBe("late.service", Down) // with no daemon-reload
	n.mustDo(Start, "late.service")
	if err := os.Remove(file); err != nil {
		n.t.Fatal(err)
	}
	n.m.must(n.t, "systemctl", "daemon-reload")
	n.becomes("late.service", Up) // runs without its file
	n.mustDo(Stop, "late.service")
	n.becomes("late.service", Absent)
}

func testMasked(n *node) {
	n.mustBe("masked.service", Down)
	wantError(n.t, n.do(Start, "masked.service"), "start masked.service:", "systemctl unmask masked.service")
	n.mustDo(Stop, "masked.service")
}

func testFails(n *node) {
	for _, c := range []struct {
		unit  string
		parts []string
	}{
		{"failing.service", []string{"failed (failed)", "Result=exit-code", "ExecMainStatus=3", "journalctl -u failing.service"}},
		{"missing.service", []string{"ExecMainStatus=203", "can't be run"}},
		{"crash.service", []string{"killed by signal 11"}},
		{"hurt.service", []string{"Result=timeout"}},
		{"needs.service", []string{"depends on failed"}},
		{"cond.service", []string{"Condition", "does not hold"}},
		{"assert.service", []string{"Assert", "does not hold"}},
		{"bad.service", []string{"file is bad"}},
	} {
		err := n.do(Start, c.unit)
		n.t.Logf("%v", err)
		wantError(n.t, err, append(c.parts, "start "+c.unit+":")...)
		n.mustBe(c.unit, Down)
		if c.unit != "bad.service" {
			n.mustDo(Stop, c.unit)
		}
	}
}

func testOneshot(n *node) {
	n.mustDo(Start, "oneshot.service")
	n.mustBe("oneshot.service", Down)
}

func testSlow(n *node) {
	begin := time.Now()
	err := await(n.t, n.order(Start, "slow.service", 300*time.Millisecond))
	n.t.Logf("%v", err)
	wantError(n.t, err, "start slow.service:", "not done after 300ms", "activating (start)")
	if d := time.Since(begin); d > 20*time.Second {
		n.t.Fatalf("took %s", d)
	}
	n.mustBe("slow.service", Unknown)
	n.mustDo(Stop, "slow.service")
	n.mustBe("slow.service", Down)
}

// testOnItsWay orders a unit the other way while it is on its way.
func testOnItsWay(n *node) {
	n.m.must(n.t, "systemctl", "start", "--no-block", "slowish.service")
	n.becomes("slowish.service", Unknown)
	n.mustDo(Stop, "slowish.service")
	n.mustBe("slowish.service", Down)
	n.mustDo(Start, "slowish.service")
	n.mustBe("slowish.service", Up)
	n.m.must(n.t, "systemctl", "stop", "--no-block", "slowish.service")
	n.becomes("slowish.service", Unknown)
	n.mustDo(Start, "slowish.service")
	n.mustBe("slowish.service", Up)
	n.mustDo(Stop, "slowish.service")
}

// testOutsideChange has a unit killed and started by others, and sees it
// without asking.
func testOutsideChange(n *node) {
	n.mustDo(Start, "sleeper.service")
	sent := n.sent.Load()
	n.m.must(n.t, "systemctl", "kill", "-s", "KILL", "sleeper.service")
	n.becomes("sleeper.service", Down)
	n.m.must(n.t, "systemctl", "start", "sleeper.service")
	n.becomes("sleeper.service", Up)
	if now := n.sent.Load(); now != sent {
		n.t.Fatalf("%d messages were sent to see it", now-sent)
	}
	n.mustDo(Stop, "sleeper.service")
}

// testIdle has nothing to do while other units of the node start and stop.
func testIdle(n *node) {
	n.mustDo(Stop, "sleeper.service")
	n.mustBe("sleeper.service", Down)
	sent, received := n.sent.Load(), n.received.Load()
	// The Go runtime has a turn now and then: the quietest of three counts.
	const rest, most = time.Second, 20
	quietest := int64(most + 1)
	for try := 0; try < 3 && quietest > most; try++ {
		before := contextSwitches()
		time.Sleep(rest)
		quietest = min(quietest, contextSwitches()-before)
	}
	n.t.Logf("%d context switches of the test's process in %s", quietest, rest)
	if quietest > most {
		n.t.Errorf("over %d context switches in %s of rest", most, rest)
	}
	for range 3 {
		n.m.must(n.t, "systemctl", "reset-failed")
		n.m.must(n.t, "systemctl", "start", "another.service")
		n.m.must(n.t, "systemctl", "stop", "another.service")
	}
	for range 100 {
		n.mustBe("sleeper.service", Down)
	}
	if s, r := n.sent.Load()-sent, n.received.Load()-received; s != 0 || r != 0 {
		n.t.Errorf("%d messages sent and %d received at rest", s, r)
	}
}

// contextSwitches is how often the threads of this process gave up the
// processor, see getrusage(2).
func contextSwitches() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Nvcsw
}

func testAlias(n *node) {
	n.mustDo(Start, "alias.service")
	n.mustBe("alias.service", Up)
	n.mustBe("sleeper.service", Up)
	n.m.must(n.t, "systemctl", "stop", "sleeper.service")
	n.becomes("alias.service", Down)
	n.mustDo(Stop, "alias.service")
}

// testTwentyInARow starts a unit more often than systemd's limit allows.
func testTwentyInARow(n *node) {
	for i := range 20 {
		if err := n.do(Start, "limited.service"); err != nil {
			n.t.Fatalf("start %d: %v", i+1, err)
		}
		if err := n.do(Stop, "limited.service"); err != nil {
			n.t.Fatalf("stop %d: %v", i+1, err)
		}
	}
}

// testInOrder gives orders of one unit at once, and looks at their order.
func testInOrder(n *node) {
	type end struct {
		i   int
		err error
	}
	ends := make(chan end, 20)
	n.run(func() {
		for i := range 20 {
			verb := Start
			if i%2 == 1 {
				verb = Stop
			}
			n.c.Do(Order{Verb: verb, Unit: "sleeper.service", Timeout: 10 * time.Second},
				func(err error) { ends <- end{i, err} })
		}
	})
	for i := range 20 {
		if e := await(n.t, ends); e.i != i || e.err != nil {
			n.t.Fatalf("order %d ended as number %d: %v", e.i, i, e.err)
		}
	}
	n.mustBe("sleeper.service", Down)
}

func testUnitsApart(n *node) {
	slow := n.order(Start, "slowish.service", 10*time.Second)
	n.mustDo(Start, "sleeper.service")
	select {
	case err := <-slow:
		n.t.Fatalf("the slow one was faster: %v", err)
	default:
	}
	n.mustBe("slowish.service", Unknown) // being changed
	if err := await(n.t, slow); err != nil {
		n.t.Fatal(err)
	}
	n.mustDo(Stop, "slowish.service")
	n.mustDo(Stop, "sleeper.service")
}

// testReplaced has somebody else's stop end a start.
func testReplaced(n *node) {
	start := n.order(Start, "slow.service", 10*time.Second)
	n.untilActivating("slow.service")
	n.m.must(n.t, "systemctl", "stop", "slow.service")
	err := await(n.t, start)
	n.t.Logf("%v", err)
	wantError(n.t, err, "start slow.service:", "canceled by another request")
}

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

func testClose(n *node) {
	start := n.order(Start, "slow.service", 10*time.Second)
	n.untilActivating("slow.service")
	l := n.link()
	n.run(n.c.Close)
	n.run(n.c.Close)
	n.run(func() {
		n.c.Do(Order{Verb: Stop, Unit: "slow.service", Timeout: time.Second}, func(error) { n.t.Error("Do after Close") })
		n.c.State("slow.service", func(State, error) { n.t.Error("State after Close") })
	})
	select {
	case err := <-start:
		n.t.Fatalf("done after Close: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	n.until("the connection is gone", func() bool { return !l.alive() })
	n.m.must(n.t, "systemctl", "stop", "slow.service")
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
