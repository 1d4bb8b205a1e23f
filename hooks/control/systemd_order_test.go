// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"time"
)

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

// testOneQuestion: an order is one message, as a rule, since what systemd tells
// on the way says what became of the unit.
func testOneQuestion(n *node) {
	n.mustDo(Start, "sleeper.service")
	n.mustDo(Stop, "sleeper.service")
	before := n.sent.Load()
	const rounds = 5
	for range rounds {
		n.mustDo(Start, "sleeper.service")
		n.mustDo(Stop, "sleeper.service")
	}
	if sent := n.sent.Load() - before; sent > 3*rounds {
		n.t.Errorf("%d messages for %d orders", sent, 2*rounds)
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
