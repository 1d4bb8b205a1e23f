// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

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
		{"OneQuestion", testOneQuestion},
		{"InOrder", testInOrder},
		{"UnitsApart", testUnitsApart},
		{"Replaced", testReplaced},
		{"Forged", testForged},
		{"Idle", testIdle},
		{"Close", testClose},
		{"SystemdReexec", testReexec},
		{"BusRestart", testBusRestart},
		{"Deaf", testDeaf},
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
	// What systemd says of a unit after its job has ended.
	last := int64(-1)
	n.until("silence", func() bool {
		was := last
		last = n.received.Load()
		time.Sleep(100 * time.Millisecond)
		return was == last
	})
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
