// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
)

// R is in the KVS before the response (the fake looks), and all jobs of a pass
// are in one transaction.
func TestOneTransaction(t *testing.T) {
	f := start(t, inventoryOf(50, 2, 0, ""), true)
	commits := f.engine.stats.count.Commits
	for range 50 {
		f.submit(nodesSpec(1, 0, ""))
	}
	f.run()
	if n := f.engine.pool.Jobs(); n != 50 {
		t.Fatalf("%d jobs run", n)
	}
	if n := f.engine.stats.count.Commits - commits; n > 2 {
		t.Errorf("50 jobs that came at once took %d transactions", n)
	}
}

// A transaction that fails gives nothing away, and is tried again.
func TestFailedCommit(t *testing.T) {
	f := start(t, inventoryOf(3, 2, 0, ""), true)
	f.failNext = 2
	a, b := f.submit(nodesSpec(1, 0, "")), f.submit(nodesSpec(1, 0, ""))
	f.run()
	f.verify()
	if a.running || f.engine.pool.Jobs() != 0 || f.logged(Err) != 1 {
		t.Errorf("after the failure: runs %t, %d booked\n%s", a.running, f.engine.pool.Jobs(), strings.Join(f.log, "\n"))
	}
	f.end(b) // while it waits for the next try
	f.advance(1.5)
	if a.running {
		t.Error("the second failure did not count")
	}
	f.advance(1.5)
	if !a.running || b.running || f.engine.pool.Jobs() != 1 {
		t.Errorf("after the second try: %t %t", a.running, b.running)
	}
	f.verify()
}

func TestDenied(t *testing.T) {
	f := start(t, inventoryOf(2, 2, 0, ""), true)
	for spec, word := range map[string]string{
		nodesSpec(3, 0, ""):                                         "unsatisfiable request: it needs 3 whole nodes",
		slotsSpec(1, 1, 1, 0, ""):                                   "1 gpu",
		nodesSpec(1, 0, `"constraints":{"properties":["no"]}`):      "no node matches the constraint",
		nodesSpec(1, 0, `"constraints":{"smell":["no"]}`):           "smell: no such operator",
		`{"version":1,"resources":[]}`:                              "jobspec: resources is empty",
		spec(`{"type":"core","count":1}`, 0, ""):                    "inside a slot",
		strings.Replace(nodesSpec(1, 0, ""), `"duration":0`, "", 1): "duration",
	} {
		j := f.submit(spec)
		f.run()
		if !strings.Contains(j.denied, word) {
			t.Errorf("%s: denied with %q, want %q", spec, j.denied, word)
		}
	}
	// What becomes impossible while it waits is denied then.
	a := f.submit(nodesSpec(2, 0, ""))
	b := f.submit(nodesSpec(2, 0, ""))
	f.run()
	f.change(`{"down":"1","shrink":"1"}`)
	f.run()
	if !a.running || !strings.Contains(b.denied, "unsatisfiable") {
		t.Errorf("after the shrink: runs %t, denied with %q", a.running, b.denied)
	}
	f.end(a)
	f.run()
	f.verify()
	if n := f.engine.pool.Tally(); n.All != 1 || n.Idle != 1 {
		t.Errorf("%+v", n)
	}
}

func TestFeasibility(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(2, 2, 0, `{"a":"0"}`))
	f.load()
	var got []string
	ask := func(payload string) {
		send(f.engine, "feasibility.check", payload, func(p string, err error) {
			var num syscall.Errno
			errors.As(err, &num)
			got = append(got, fmt.Sprint(p, int(num)))
		})
	}
	ask(fmt.Sprintf(`{"jobspec":%s}`, nodesSpec(2, 0, ""))) // before the inventory is there
	if len(got) != 0 {
		t.Fatal("answered without an inventory")
	}
	f.run()
	ask(fmt.Sprintf(`{"jobspec":%s}`, nodesSpec(3, 0, "")))
	ask(`{"jobspec":{}}`)
	ask(`{}`)
	f.change(`{"property-add":{"b":"1"},"property-remove":{"a":"0"}}`)
	f.change(`{"down":"0-1"}`)
	f.run()
	ask(fmt.Sprintf(`{"jobspec":%s}`, nodesSpec(1, 0, `"constraints":{"properties":["b"]}`)))
	ask(fmt.Sprintf(`{"jobspec":%s}`, nodesSpec(1, 0, `"constraints":{"properties":["a"]}`)))
	want := fmt.Sprint([]string{"0", fmt.Sprint(int(syscall.EOVERFLOW)), fmt.Sprint(int(syscall.EINVAL)), fmt.Sprint(int(syscall.EPROTO)), "0", fmt.Sprint(int(syscall.EOVERFLOW))})
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPriority(t *testing.T) {
	f := start(t, inventoryOf(1, 2, 0, ""), true)
	a := f.submit(nodesSpec(1, 0, ""))
	f.run()
	b, c := f.submit(nodesSpec(1, 0, "")), f.submit(nodesSpec(1, 0, ""))
	f.toSched("sched.prioritize", fmt.Sprintf(`{"jobs":[[%d,31],[7,1],["x"]]}`, c.id), nil)
	f.run()
	f.end(a)
	f.run()
	if b.running || !c.running {
		t.Errorf("runs: b %t c %t", b.running, c.running)
	}
}

// A free that makes no sense changes nothing.
func TestOddFrees(t *testing.T) {
	f := start(t, inventoryOf(3, 4, 0, ""), true)
	a, b := f.submit(slotsSpec(1, 2, 0, 0, "")), f.submit(slotsSpec(1, 2, 0, 0, ""))
	f.run()
	before := fmt.Sprint(f.held())
	r := a.text
	for _, payload := range []string{
		`{}`, `{"id":-1}`, `{"id":"x","final":true}`, `{"id":99,"final":true}`, `[`, ``,
		fmt.Sprintf(`{"id":99,"R":%s}`, r),
		fmt.Sprintf(`{"id":%d}`, a.id),
		fmt.Sprintf(`{"id":%d,"R":"x"}`, a.id),
		fmt.Sprintf(`{"id":%d,"R":%s}`, a.id, strings.Replace(r, `"rank":"0"`, `"rank":"2"`, 1)),
	} {
		f.toSched("sched.free", payload, nil)
	}
	f.run()
	f.verify()
	if after := fmt.Sprint(f.held()); after != before {
		t.Errorf("held %s, before %s", after, before)
	}
	// The cores of another job's R are not freed with one's own rank.
	f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"R":%s}`, b.id, r), nil)
	f.run()
	if f.held()[a.id] != "rank0/core[0-1]" {
		t.Errorf("held %v", f.held())
	}
	f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"final":true}`, b.id), nil)
	f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"final":true}`, b.id), nil)
	f.run()
	f.verify()
}

func TestAnnotations(t *testing.T) {
	f := start(t, inventoryOf(2, 2, 0, ""), true)
	a := f.submit(nodesSpec(2, 100, ""))
	f.run()
	f.advance(2)
	b := f.submit(nodesSpec(1, 100, ""))
	f.run()
	note := f.notes[b.id]
	if gjson.Get(note, "reason_pending").Str != "needs 1 whole node, 0 are free" || gjson.Get(note, "t_estimate").Num != f.now-2+100 {
		t.Errorf("b is told %s at %f", note, f.now)
	}
	n := f.engine.stats.count.Annotate
	f.advance(0.5)
	f.submit(nodesSpec(1, 100, ""))
	f.advance(5)
	if got := f.engine.stats.count.Annotate; got != n+1 { // the new job's own
		t.Errorf("%d more annotations, should be 1", got-n)
	}
	for range 3 {
		f.advance(1)
	}
	if f.engine.slow != nil {
		t.Error("there is no news, and it goes on looking for some")
	}
	f.end(a)
	f.run()
	if note := f.notes[b.id]; !gjson.Get(note, "t_estimate").Exists() || gjson.Get(note, "t_estimate").Type != gjson.Null ||
		gjson.Get(note, "reason_pending").Type != gjson.Null || gjson.Get(note, "resource_summary").Str != "rank0/core[0-1]" {
		t.Errorf("b starts with %s", note)
	}
}

func TestStatus(t *testing.T) {
	f := start(t, inventoryOf(4, 2, 1, `{"a":"0-1"}`), true)
	f.submit(nodesSpec(1, 0, ""))
	f.submit(slotsSpec(1, 1, 0, 0, ""))
	f.change(`{"down":"3"}`)
	f.run()
	var status gjson.Result
	send(f.engine, "sched.resource-status", "", func(p string, _ error) { status = gjson.Parse(p) })
	for key, want := range map[string]string{
		"all": `[{"rank":"0-3","children":{"core":"0-1","gpu":"0"}}]`, "down": `[{"rank":"3","children":{"core":"0-1","gpu":"0"}}]`,
		"allocated": `[{"rank":"0","children":{"core":"0-1","gpu":"0"}},{"rank":"1","children":{"core":"0"}}]`,
	} {
		if got := status.Get(key + ".execution.R_lite").Raw; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// stats-get waits for the recovery, but not for ever.
func TestStats(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(1, 1, 0, ""))
	delete(f.services, "resource.acquire")
	f.services["resource.acquire"] = func(string, func(string, error)) {}
	f.load()
	state := ""
	r := send(f.engine, "stats-get", "", func(p string, _ error) { state = gjson.Get(p, "state").Str })
	f.run()
	if state != "" {
		t.Fatalf("answered at once: %s", state)
	}
	f.advance(6)
	if state != "acquire" || r.kept != 0 {
		t.Errorf("state %q, kept %d", state, r.kept)
	}
	g := start(t, inventoryOf(1, 1, 0, ""), true)
	send(g.engine, "stats-get", "", func(p string, _ error) { state = gjson.Get(p, "state").Str })
	if state != "ready" {
		t.Errorf("state %q", state)
	}
}

// What the scheduler can't do without ends it, with the reason.
func TestFailures(t *testing.T) {
	refuse := func(_ string, reply func(string, error)) { reply("", syscall.EPERM) }
	for topic, first := range map[string]func(string, func(string, error)){
		"resource.acquire":        func(_ string, reply func(string, error)) { reply(`{"up":"0"}`, nil) },
		"job-manager.sched-hello": refuse,
		"job-manager.sched-ready": refuse,
	} {
		f := newFakeFlux(t, inventoryOf(1, 1, 0, ""))
		f.services[topic] = first
		f.load()
		f.run()
		if !f.stopped || f.stopErr == nil || !strings.Contains(f.stopErr.Error(), topic) || f.engine.Phase() != Stopped {
			t.Errorf("%s: stopped %t: %v", topic, f.stopped, f.stopErr)
		}
	}
	f := start(t, inventoryOf(1, 1, 0, ""), true)
	f.acquire("", syscall.ECANCELED) // the resource module is unloaded
	f.run()
	if !f.stopped || f.stopErr != nil || f.logged(Err) != 1 {
		t.Errorf("stopped %t: %v", f.stopped, f.stopErr)
	}
	f.engine.Stop()
}

// Changes that make no sense are logged and change nothing.
func TestOddChanges(t *testing.T) {
	f := start(t, inventoryOf(3, 1, 0, ""), true)
	for _, p := range []string{`{"up":3}`, `{"down":"x"}`, `{"up":"99"}`, `{"shrink":"0-2147483647","down":4}`, `{"expiration":-1}`, `{"property-add":{"a":3}}`, `{"property-add":[]}`, `{}`, `[]`, `{`} {
		if strings.Contains(p, "shrink") {
			continue
		}
		f.change(p)
	}
	f.run()
	f.verify()
	if n := f.engine.pool.Tally(); n.All != 3 || n.Up != 3 {
		t.Errorf("%+v", n)
	}
	f.change(`{"expiration":12345}`)
	f.change(`{"shrink":"0-2147483647"}`)
	f.run()
	if n := f.engine.pool.Tally(); n.All != 0 || f.engine.expiration != 12345 {
		t.Errorf("%+v", n)
	}
}

// A request that was sent to the scheduler before this one is passed over: the
// job manager sends it again after ready.
func TestEarlyAlloc(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(1, 1, 0, ""))
	f.load()
	early := send(f.engine, "sched.alloc", fmt.Sprintf(`{"id":7,"priority":16,"jobspec":%s}`, nodesSpec(1, 0, "")),
		func(p string, err error) { t.Errorf("answered %s %v", p, err) })
	f.run()
	if early.kept != 0 || f.engine.queue.Len() != 0 || f.engine.pool.Jobs() != 0 {
		t.Error("it was taken")
	}
}

// Nothing of a request is kept after its end.
func TestRequestsReleased(t *testing.T) {
	f := start(t, inventoryOf(1, 1, 0, ""), true)
	kept := map[jobid.ID]*fakeRequest{}
	for id := jobid.ID(1); id <= 4; id++ {
		kept[id] = send(f.engine, "sched.alloc", fmt.Sprintf(`{"id":%d,"priority":16,"userid":0,"t_submit":1,"jobspec":%s}`, id, nodesSpec(1, 0, "")), nil)
	}
	send(f.engine, "sched.cancel", `{"id":2}`, nil)
	f.run()
	if kept[1].kept != 0 || kept[2].kept != 0 || kept[3].kept != 1 {
		t.Errorf("kept %d %d %d", kept[1].kept, kept[2].kept, kept[3].kept)
	}
	send(f.engine, "sched.alloc", fmt.Sprintf(`{"id":3,"priority":16,"jobspec":%s}`, nodesSpec(1, 0, "")), nil)
	if kept[3].kept != 0 {
		t.Error("the request that was taken the place of is kept")
	}
	f.engine.Stop()
	if kept[4].kept != 0 {
		t.Error("kept after the end")
	}
}

func BenchmarkRecover4000(b *testing.B) {
	for _, hooks := range []bool{true, false} {
		b.Run(fmt.Sprintf("hooks=%t", hooks), func(b *testing.B) {
			f := newFakeFlux(b, inventoryOf(4000, 64, 0, ""))
			f.hooks, f.config.LogLevel = hooks, Err
			f.tolerate = true // looking at all pairs takes its time
			f.load()
			f.run()
			for range 4000 {
				f.submit(nodesSpec(1, 0, ""))
			}
			f.run()
			for b.Loop() {
				f.unload()
				f.load()
				f.run()
				if f.engine.pool.Jobs() != 4000 {
					b.Fatal(f.engine.pool.Jobs())
				}
			}
		})
	}
}
