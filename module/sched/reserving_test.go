// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/reserve"
	"flux-burrow/rv1reader/idset"
)

// reserveCall sends a request and lets all happen. The answer is "E: text" for
// an error with errno E, and "" as long as there is none.
func (f *fakeFlux) reserveCall(method, payload string) string {
	f.t.Helper()
	answer := f.sendReserve(method, payload)
	f.run()
	return *answer
}

func (f *fakeFlux) sendReserve(method, payload string) *string {
	answer := ""
	send(f.engine, "reserve-"+method, payload, func(p string, err error) {
		if answer != "" {
			f.t.Errorf("reserve-%s %s: answered twice", method, payload)
		}
		answer = p
		if err != nil {
			answer = fmt.Sprintf("%s: %s", errnoName(err), err)
		}
	})
	return &answer
}

func errnoName(err error) string {
	for _, num := range []syscall.Errno{syscall.EPROTO, syscall.EINVAL, syscall.EEXIST, syscall.ENOENT, syscall.EIO, syscall.EAGAIN, syscall.EOPNOTSUPP, syscall.ECANCELED} {
		if errnoIs(err, num) {
			return map[syscall.Errno]string{
				syscall.EPROTO: "EPROTO", syscall.EINVAL: "EINVAL", syscall.EEXIST: "EEXIST", syscall.ENOENT: "ENOENT",
				syscall.EIO: "EIO", syscall.EAGAIN: "EAGAIN", syscall.EOPNOTSUPP: "EOPNOTSUPP", syscall.ECANCELED: "ECANCELED",
			}[num]
		}
	}
	return "?"
}

// asked is the payload of a reservation that begins in so many seconds.
func (f *fakeFlux) asked(name, nodes string, in, duration float64) string {
	return fmt.Sprintf(`{"name":"%s","nodes":"%s","start":%.3f,"duration":%g}`, name, nodes, f.now+in, duration)
}

// listed gives name:state:ranks of each.
func (f *fakeFlux) listed() string {
	var out []string
	gjson.Get(f.reserveCall("list", ""), "reservations").ForEach(func(_, v gjson.Result) bool {
		out = append(out, v.Get("name").Str+":"+v.Get("state").Str+":"+v.Get("ranks").Str)
		return true
	})
	return strings.Join(out, " ")
}

// inKVS names what is in the KVS.
func (f *fakeFlux) inKVS() string {
	return strings.Join(strings.Fields(strings.Trim(gjson.Get(f.kvs[reserve.Key], "reservations.#.name").Raw, "[]")), " ")
}

func TestReserve(t *testing.T) {
	f := start(t, inventoryOf(8, 4, 0, `{"big":"6-7"}`), true)
	if got := f.reserveCall("list", ""); got != `{"reservations":[]}` {
		t.Errorf("none yet: %s", got)
	}
	if got := f.reserveCall("remove", `{"name":"a"}`); got != `ENOENT: there is no reservation "a"` || f.kvs[reserve.Key] != "" {
		t.Errorf("%s; KVS: %s", got, f.kvs[reserve.Key])
	}
	got := f.reserveCall("add", f.asked("maint", "n[0-3]", 100, 50))
	if want := `{"name":"maint","ranks":"0-3","hosts":"n[0-3]","start":1000000100,"end":1000000150,"running":[]}`; got != want {
		t.Errorf("added: %s, want %s", got, want)
	}
	f.reserveCall("add", fmt.Sprintf(`{"name":"team","constraint":{"properties":["big"]},"start":%f,"duration":1000,"users":[7,5],"reason":"a course"}`, f.now))
	if got := f.listed(); got != "team:active:6-7 maint:waiting:0-3" {
		t.Errorf("listed: %s", got)
	}
	if got := gjson.Get(f.reserveCall("list", ""), "reservations.0").Raw; got != `{"name":"team","state":"active","start":1000000000,"end":1000001000,`+
		`"constraint":{"properties":["big"]},"ranks":"6-7","hosts":"n[6-7]","rabbits":[],"users":[5,7],"reason":"a course","jobs":[]}` {
		t.Errorf("in full: %s", got)
	}
	if got := f.inKVS(); got != `"team","maint"` {
		t.Errorf("in the KVS: %s", got)
	}
	for payload, want := range map[string]string{
		f.asked("maint", "5", 0, 1):                        "EEXIST: name: there is a reservation maint",
		f.asked("x", "3-4", 0, 200):                        "EEXIST: rank 3 has the reservation maint",
		f.asked("x", "9", 0, 200):                          "EINVAL: nodes: there is no rank 9",
		f.asked("x", "n9", 0, 200):                         "EINVAL: nodes: there is no host n9",
		f.asked("x", "4", -20, 10):                         "EINVAL: duration: it is over",
		`{"name":"x"}`:                                     `EPROTO: bad payload: "start" is missing`,
		f.asked("x", "4", 0, 1)[1:]:                        "EPROTO: ",
		`{"name":"x","start":0,"duration":1e10}`:           "EINVAL: duration: 1e+10 seconds end after",
		`{"rabbits":["r0"],` + f.asked("x", "4", 0, 1)[1:]: "EOPNOTSUPP: rabbits: ",
	} {
		if got := f.reserveCall("add", payload); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
	if got := f.reserveCall("remove", `{}`); !strings.HasPrefix(got, "EPROTO: ") {
		t.Errorf("%s", got)
	}
	if got := f.reserveCall("remove", `{"name":"maint"}`); got != `{"name":"maint"}` || f.engine.plan.Block("maint") != nil {
		t.Errorf("removed: %s", got)
	}
	if f.listed() != "team:active:6-7" || f.inKVS() != `"team"` {
		t.Errorf("left: %s, in the KVS: %s", f.listed(), f.inKVS())
	}
}

// Guests have no business here; the host looks at the table.
func TestReserveOwnerOnly(t *testing.T) {
	n := 0
	for _, h := range Handlers {
		if strings.HasPrefix(h.Topic, "reserve-") {
			n++
			if h.Guests || !h.Own {
				t.Errorf("%+v", h)
			}
		}
	}
	if n != 3 {
		t.Errorf("%d handlers", n)
	}
}

// What runs past the beginning is listed, and left alone.
func TestReserveRunning(t *testing.T) {
	f := start(t, inventoryOf(8, 2, 0, ""), true)
	long, short := f.submit(nodesSpec(2, 500, "")), f.submit(nodesSpec(1, 50, "")) // 0-1, 2
	endless, other := f.submit(nodesSpec(1, 0, "")), f.submit(nodesSpec(2, 0, "")) // 3, 4-5
	f.run()
	got := f.reserveCall("add", f.asked("a", "1-3", 100, 1000))
	want := fmt.Sprintf(`[{"id":%d,"ranks":"1","expiration":%.0f},{"id":%d,"ranks":"3","expiration":0}]`, long.id, f.now+500, endless.id)
	if got := gjson.Get(got, "running").Raw; got != want {
		t.Errorf("running: %s, want %s", got, want)
	}
	if jobs := gjson.Get(f.reserveCall("list", ""), "reservations.0.jobs").Raw; jobs != fmt.Sprintf("[%d,%d]", long.id, endless.id) {
		t.Errorf("jobs: %s", jobs)
	}
	for _, j := range []*fakeJob{long, short, endless, other} {
		if !j.running {
			t.Errorf("%s runs no more", j.id)
		}
	}
	// One that is freed there, and one that is long past its limit
	f.endRanks(long, idset.New(1))
	f.run()
	f.now += 90
	if jobs := gjson.Get(f.reserveCall("list", ""), "reservations.0.jobs").Raw; jobs != fmt.Sprintf("[%d,%d]", short.id, endless.id) {
		t.Errorf("jobs later: %s", jobs)
	}
}

// The book is as it was after a reload, and after a restart under which the
// clock was changed.
func TestReserveReload(t *testing.T) {
	both(t, func(t *testing.T, hooks bool) {
		f := start(t, inventoryOf(4, 2, 0, ""), hooks)
		f.reserveCall("add", f.asked("a", "0-1", 1000, 1000))
		f.reserveCall("add", f.asked("b", "n3", 0, 5000))
		text := f.kvs[reserve.Key]
		f.reload()
		if got := f.listed(); got != "b:active:3 a:waiting:0-1" {
			t.Errorf("after a reload: %s", got)
		}
		f.unload()
		f.now -= 1e6
		f.load()
		f.run()
		if got := f.listed(); got != "b:waiting:3 a:waiting:0-1" {
			t.Errorf("with the clock put back: %s", got)
		}
		f.unload()
		f.now += 1e6 + 1500
		f.load()
		f.run()
		if got := f.listed(); got != "b:active:3 a:active:0-1" {
			t.Errorf("with the clock put forward: %s", got)
		}
		if f.kvs[reserve.Key] != text || f.logged(Warning)+f.logged(Err) > 0 {
			t.Errorf("KVS: %s, was %s; log:\n%s", f.kvs[reserve.Key], text, strings.Join(f.log, "\n"))
		}
	})
}

// Another inventory than at the time when it was made.
func TestReserveOtherNodes(t *testing.T) {
	f := start(t, inventoryOf(4, 2, 0, `{"big":"2"}`), true)
	f.reserveCall("add", f.asked("a", "n[0-1]", 0, 1000))
	f.reserveCall("add", fmt.Sprintf(`{"name":"big","constraint":{"properties":["big"]},"start":%f,"duration":1000}`, f.now))
	f.change(`{"property-add":{"big":"3"},"property-remove":{"big":"2"}}`)
	f.run()
	if got := f.listed(); got != "a:active:0-1 big:active:3" || !f.engine.plan.Block("big").Nodes.Has(3) {
		t.Errorf("after a change of properties: %s", got)
	}
	f.change(`{"shrink":"0"}`)
	f.run()
	if got := f.listed(); got != "a:active:1 big:active:3" {
		t.Errorf("after the shrink: %s", got)
	}
	if got := gjson.Get(f.reserveCall("list", ""), "reservations.0.missing").Str; got != "n0" || f.logged(Warning) != 1 {
		t.Errorf("missing: %s; log:\n%s", got, strings.Join(f.log, "\n"))
	}
	f.unload()
	f.inventory, f.up = inventoryOf(1, 2, 0, ""), idset.New(0)
	f.load()
	f.run()
	if got := f.listed(); got != "a:active:0 big:active:" {
		t.Errorf("with one node: %s", got)
	}
	if f.reserveCall("remove", `{"name":"big"}`); f.inKVS() != `"a"` {
		t.Errorf("%s", f.inKVS())
	}
}

// A change that the KVS does not take is not made, and what was before is
// written once more.
func TestReserveFailedCommit(t *testing.T) {
	f := start(t, inventoryOf(4, 2, 0, ""), true)
	f.reserveCall("add", f.asked("a", "0", 0, 1000))
	f.failNext = 1
	if got := f.reserveCall("add", f.asked("b", "1", 0, 1000)); !strings.HasPrefix(got, "EIO: the KVS did not take it") {
		t.Errorf("%s", got)
	}
	f.failNext = 1
	if got := f.reserveCall("remove", `{"name":"a"}`); !strings.HasPrefix(got, "EIO: ") {
		t.Errorf("%s", got)
	}
	if f.listed() != "a:active:0" || f.inKVS() != `"a"` {
		t.Errorf("%s; %s", f.listed(), f.inKVS())
	}
	f.kvs[reserve.Key] = `{"version":1,"reservations":[]}` // it was made all the same
	f.advance(61)
	if f.inKVS() != `"a"` {
		t.Errorf("not repaired: %s", f.inKVS())
	}
	if got := f.reserveCall("add", f.asked("b", "1", 0, 1000)); !gjson.Valid(got) || f.listed() != "a:active:0 b:active:1" {
		t.Errorf("%s; %s", got, f.listed())
	}
}

// Requests that come together are done one after the other.
func TestReserveInOrder(t *testing.T) {
	f := start(t, inventoryOf(4, 2, 0, ""), true)
	a, b := f.sendReserve("add", f.asked("a", "0-1", 0, 10)), f.sendReserve("add", f.asked("b", "1-2", 0, 10))
	gone, c := f.sendReserve("remove", `{"name":"a"}`), f.sendReserve("add", f.asked("c", "1-2", 0, 10))
	list := f.sendReserve("list", "")
	if *a+*b+*gone+*c+*list != "" {
		t.Error("answered before the KVS had it")
	}
	f.run()
	if !gjson.Valid(*a) || !strings.HasPrefix(*b, "EEXIST: ") || !gjson.Valid(*gone) || !gjson.Valid(*c) ||
		gjson.Get(*list, "reservations.#.name").Raw != `["c"]` {
		t.Errorf("%s\n%s\n%s\n%s\n%s", *a, *b, *gone, *c, *list)
	}
}

// Requests that come before ready wait; those that are open at the end are told.
func TestReserveEarlyAndLate(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(4, 2, 0, ""))
	f.load()
	list, add := f.sendReserve("list", ""), f.sendReserve("add", f.asked("a", "0", 0, 10))
	if *list+*add != "" {
		t.Error("answered before the inventory is there")
	}
	f.run()
	if !gjson.Valid(*list) || !gjson.Valid(*add) {
		t.Errorf("%s\n%s", *list, *add)
	}
	b, c := f.sendReserve("add", f.asked("b", "1", 0, 10)), f.sendReserve("add", f.asked("c", "2", 0, 10))
	f.unload()
	if !strings.HasPrefix(*b, "ECANCELED: ") || !strings.Contains(*b, "while this was written") || !strings.Contains(*c, "before this was done") {
		t.Errorf("%s\n%s", *b, *c)
	}
	f.load()
	f.run()
	if got := f.listed(); got != "a:active:0 b:active:1" {
		t.Errorf("%s", got)
	}
}

func TestReserveBadKVS(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1,"reservations":[{"name":"bad","nodes":"0","start":1,"end":0},{"name":"good","nodes":"1","start":1,"end":2e9}]}`: "good:active:1",
		`nonsense`: "",
	} {
		f := newFakeFlux(t, inventoryOf(4, 2, 0, ""))
		f.kvs[reserve.Key] = text
		f.load()
		f.run()
		if got := f.listed(); f.engine.Phase() != Ready || got != want || f.logged(Err) != 1 {
			t.Errorf("%s: %s, %s, log:\n%s", text, f.engine.Phase(), got, strings.Join(f.log, "\n"))
		}
		if got := f.reserveCall("add", f.asked("new", "2", 0, 10)); !gjson.Valid(got) {
			t.Errorf("%s", got)
		}
	}
}

// sickKVS is a host whose look-ups of the book fail, or get no answer.
type sickKVS struct {
	*fakeFlux
	err  error
	mute bool
	late []func()
}

func (s *sickKVS) Lookup(key string, done func(string, error)) {
	switch {
	case key != reserve.Key:
	case s.mute:
		s.late = append(s.late, func() { s.fakeFlux.Lookup(key, done) })
		return
	case s.err != nil:
		s.post("kvs", func() { done("", s.err) })
		return
	}
	s.fakeFlux.Lookup(key, done)
}

func (s *sickKVS) load() {
	s.engine = New(s, s.config)
	s.engine.Start()
	s.run()
}

func newSickKVS(t *testing.T) *sickKVS {
	f := newFakeFlux(t, inventoryOf(4, 2, 0, ""))
	f.kvs[reserve.Key] = `{"version":1,"reservations":[{"name":"a","nodes":"1","start":1,"end":2e9}]}`
	return &sickKVS{fakeFlux: f}
}

// A KVS that can't be read keeps nobody from running; nothing is written over.
func TestReserveFailingKVS(t *testing.T) {
	s := newSickKVS(t)
	s.err = syscall.EIO
	s.load()
	if s.engine.Phase() != Ready || s.logged(Warning) != 1 {
		t.Fatalf("%s; log:\n%s", s.engine.Phase(), strings.Join(s.log, "\n"))
	}
	for method, payload := range map[string]string{"list": "", "add": s.asked("b", "2", 0, 10)} {
		if got := s.reserveCall(method, payload); !strings.HasPrefix(got, "EAGAIN: what is reserved could not be read") {
			t.Errorf("%s: %s", method, got)
		}
	}
	s.err = nil
	s.advance(61)
	if s.engine.reservations.Get("a") == nil || s.listed() != "a:active:1" {
		t.Errorf("not read again: %s", s.listed())
	}
	// A request does not wait for the next try.
	s = newSickKVS(t)
	s.err = syscall.EIO
	s.load()
	s.err = nil
	if got := s.reserveCall("add", s.asked("b", "2", 0, 10)); !gjson.Valid(got) || s.inKVS() != `"a","b"` {
		t.Errorf("%s; %s", got, s.inKVS())
	}
}

// Ready waits for the KVS, but not for ever.
func TestReserveMuteKVS(t *testing.T) {
	s := newSickKVS(t)
	s.mute = true
	s.load()
	if s.engine.Phase() == Ready {
		t.Error("ready, and it is not known what is reserved")
	}
	list := s.sendReserve("list", "")
	s.advance(11)
	if s.engine.Phase() != Ready || s.logged(Warning) != 1 || *list != "" {
		t.Fatalf("%s; %s; log:\n%s", s.engine.Phase(), *list, strings.Join(s.log, "\n"))
	}
	s.mute = false
	for _, answer := range s.late {
		answer()
	}
	s.run()
	if gjson.Get(*list, "reservations.0.name").Str != "a" || s.listed() != "a:active:1" {
		t.Errorf("%s; %s", *list, s.listed())
	}
}

// passesOf counts the passes while time goes by. The job waits for ever.
func (f *fakeFlux) passesOf(d float64) int {
	before := f.engine.stats.count.Passes
	f.advance(d)
	return f.engine.stats.count.Passes - before
}

// At a begin and at an end the engine looks again at what can run, and in time.
func TestReserveEdges(t *testing.T) {
	f := start(t, inventoryOf(2, 2, 0, ""), true)
	f.submit(nodesSpec(2, 0, ""))
	f.submit(nodesSpec(2, 0, "")) // waits
	f.advance(5)
	f.reserveCall("add", f.asked("a", "0", 1000.5, 100.25))
	f.advance(5)
	f.now += 800 // the machine sleeps
	if n := f.passesOf(0); n != 0 {
		t.Errorf("%d passes without a reason", n)
	}
	f.advance(194)
	if n := f.passesOf(1); n != 0 || f.listed() != "a:waiting:0" {
		t.Errorf("%d passes before the begin; %s", n, f.listed())
	}
	if n := f.passesOf(0.502); n < 1 || f.listed() != "a:active:0" {
		t.Errorf("%d passes at the begin; %s", n, f.listed())
	}
	for range 10 {
		if n := f.passesOf(10); n != 0 {
			t.Errorf("%d passes in the middle", n)
		}
	}
	if n := f.passesOf(0.25); n < 1 || f.listed() != "" {
		t.Errorf("%d passes at the end; %s", n, f.listed())
	}
	if f.inKVS() != `"a"` {
		t.Errorf("forgotten at once: %s", f.inKVS())
	}
	f.advance(3601)
	if f.inKVS() != "" || f.engine.reservations.Len() != 0 {
		t.Errorf("not forgotten: %s", f.inKVS())
	}
	f.run()
	for _, timer := range f.timers {
		if !timer.dead && timer != f.engine.wake {
			t.Errorf("a timer is left, at %f", timer.at-f.now)
		}
	}
}

// A clock that jumps is seen within a minute, both ways; one that was wrong for
// a while costs nothing.
func TestReserveClockJump(t *testing.T) {
	f := start(t, inventoryOf(2, 2, 0, ""), true)
	f.submit(nodesSpec(2, 0, ""))
	f.submit(nodesSpec(2, 0, "")) // waits
	f.reserveCall("add", f.asked("a", "0", 86400, 3600))
	f.advance(2)
	// jump sets the clock, by which the timers do not go.
	jump := func(d float64) {
		f.now += d
		for _, timer := range f.timers {
			timer.at += d
		}
	}
	for _, step := range []struct {
		by    float64
		state string
	}{{86400, "a:active:0"}, {-86400, "a:waiting:0"}, {100000, ""}, {-100000, "a:waiting:0"}} {
		jump(step.by)
		if n := f.passesOf(60.1); n < 1 || f.listed() != step.state {
			t.Errorf("%g: %d passes, %q, want %q", step.by, n, f.listed(), step.state)
		}
	}
	f.advance(4000)
	if f.inKVS() != `"a"` {
		t.Errorf("the wrong clock cost a reservation: %s", f.inKVS())
	}
}

// Requests are let go of, whatever becomes of them.
func TestReserveRequestsReleased(t *testing.T) {
	f := start(t, inventoryOf(2, 2, 0, ""), true)
	var all []*fakeRequest
	for _, payload := range []string{f.asked("a", "0", 0, 10), f.asked("a", "0", 0, 10), `{}`} {
		all = append(all, send(f.engine, "reserve-add", payload, nil))
	}
	all = append(all, send(f.engine, "reserve-list", "", nil))
	f.run()
	all = append(all, send(f.engine, "reserve-remove", `{"name":"a"}`, nil))
	f.unload()
	for i, q := range all {
		if q.kept != 0 {
			t.Errorf("request %d is kept %d times", i, q.kept)
		}
	}
}
