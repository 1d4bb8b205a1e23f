// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/policy"
)

// configure has the engine take a changed configuration; the error is "" or
// what it says.
func (f *fakeFlux) configure(want string, change func(*Config)) {
	f.t.Helper()
	c := f.engine.config
	change(&c)
	text := ""
	if err := f.engine.Configure(c); err != nil {
		text = err.Error()
	}
	if !strings.Contains(text, want) || (want == "") != (text == "") {
		f.t.Errorf("configure: %q, want %q", text, want)
	}
	f.run()
}

// A new policy holds at once: nothing else has to happen.
func TestConfigurePolicy(t *testing.T) {
	f := start(t, inventoryOf(4, 4, 0, ""), true)
	f.submit(nodesSpec(2, 600, ""))
	f.submit(nodesSpec(4, 600, ""))
	small := f.submit(nodesSpec(1, 60, ""))
	f.run()
	if small.running {
		t.Fatal("fifo let it go ahead")
	}
	f.configure("", func(c *Config) { c.Policy = policy.Easy })
	if !small.running {
		t.Error("it still waits")
	}
}

// The R that is written from then on is of the new form; where the inventory
// has no hosts the old one stays, with all else of the configuration.
func TestConfigureWriter(t *testing.T) {
	f := start(t, inventoryOf(4, 4, 0, ""), true)
	graph := func(j *fakeJob) bool { return gjson.Get(f.kvs[j.id.Key("R")], "scheduling.graph").Exists() }
	before := f.submit(nodesSpec(1, 60, ""))
	f.run()
	f.configure("", func(c *Config) { c.Writer = RV1 })
	during := f.submit(nodesSpec(1, 60, ""))
	f.run()
	f.configure("", func(c *Config) { c.Writer = RV1Exec })
	after := f.submit(nodesSpec(1, 60, ""))
	f.run()
	if graph(before) || !graph(during) || graph(after) {
		t.Errorf("graphs: %t, %t, %t", graph(before), graph(during), graph(after))
	}

	f = newFakeFlux(t, inventoryOf(4, 4, 0, ""))
	f.load()
	c := f.engine.config
	c.Writer = RV1
	if err := f.engine.Configure(c); err != nil { // the inventory is still to come
		t.Fatal(err)
	}
	f.run()
	first := f.submit(nodesSpec(1, 60, ""))
	f.run()
	if !graph(first) {
		t.Error("a writer that was set before the inventory came is lost")
	}

	f = start(t, `{"version":1,"execution":{"R_lite":[{"rank":"0-3","children":{"core":"0-3"}}]}}`, true)
	f.configure("sched-burrow.writer=rv1: jgf: the inventory has no nodelist", func(c *Config) { c.Writer, c.Policy = RV1, policy.Easy })
	if c := f.engine.config; c.Writer != RV1Exec || c.Policy != policy.FIFO {
		t.Errorf("it goes by %s", c)
	}
}

// The job manager is told of another queue-depth, and of nothing else; not
// before it was told of the first.
func TestConfigureQueueDepth(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(4, 4, 0, ""))
	var told []string
	ready := f.services["job-manager.sched-ready"]
	f.services["job-manager.sched-ready"] = func(payload string, reply func(string, error)) {
		told = append(told, payload)
		ready(payload, reply)
	}
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(told, " "); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		told = nil
	}
	f.load()
	c := f.engine.config
	c.QueueDepth = 3
	if err := f.engine.Configure(c); err != nil {
		t.Fatal(err)
	}
	expect("")
	f.run()
	expect(`{"mode":"limited","limit":3}`)
	f.configure("", func(c *Config) { c.QueueDepth = 0 })
	expect(`{"mode":"unlimited"}`)
	f.configure("", func(c *Config) { c.QueueDepth = 9 })
	expect(`{"mode":"limited","limit":9}`)
	f.configure("", func(c *Config) { c.Policy = policy.Easy })
	f.configure("", func(*Config) {})
	expect("")
}

// The log level holds at once, for the line about it too.
func TestConfigureLogLevel(t *testing.T) {
	f := start(t, inventoryOf(4, 4, 0, ""), true)
	lines := len(f.log)
	f.configure("", func(c *Config) { c.LogLevel = Err })
	f.submit(nodesSpec(1, 60, ""))
	f.run()
	if len(f.log) != lines {
		t.Errorf("logged: %q", f.log[lines:])
	}
	f.configure("", func(c *Config) { c.LogLevel = Debug })
	if len(f.log) == lines {
		t.Error("nothing is logged any more")
	}
}

// One that comes while the job manager has not answered the first sched-ready
// is not lost.
func TestConfigureWhileAnnouncing(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(4, 4, 0, ""))
	last := ""
	ready := f.services["job-manager.sched-ready"]
	f.services["job-manager.sched-ready"] = func(payload string, reply func(string, error)) {
		if last = payload; f.engine.Phase() == Announce {
			c := f.engine.config
			c.QueueDepth = 5
			if err := f.engine.Configure(c); err != nil {
				t.Error(err)
			}
		}
		ready(payload, reply)
	}
	f.load()
	f.run()
	if last != `{"mode":"limited","limit":5}` || f.engine.Phase() != Ready {
		t.Errorf("%s: told %s", f.engine.Phase(), last)
	}
}
