// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// line is an entry of an eventlog, and where a window stands whose job
// manager ended after it.
type line struct {
	name, context string
	rabbit        State
}

// Lives as their eventlogs tell them. What stands beside an entry is where the
// window of the job must be when the entries up to it are all there is.
var lives = map[string][]line{
	"well": {
		{"alloc", "", Running}, // the plugin was not there
		{"prolog-start", described(dwsSetup), Mounting},
		{"prolog-start", described(prologName), Mounting},
		{environmentEvent, "", Stopping},
		{"prolog-finish", ended(dwsSetup, 0), Stopping},
		{"prolog-finish", ended(prologName, 0), Running},
		{"start", "", Running},
		{"finish", `{"status":0}`, Unmounting},
		{"epilog-start", described(dwsEpilog), Unmounting},
		{"epilog-start", described(epilogName), Unmounting},
		{"release", `{"ranks":"all","final":true}`, Unmounting},
		{"epilog-finish", ended(dwsEpilog, 0), Idling},
		{"epilog-finish", ended(epilogName, 0), Idling},
	},
	"cancelled in the mount": {
		{"prolog-start", described(prologName), Mounting},
		{"prolog-start", described(dwsSetup), Mounting},
		{"exception", `{"type":"cancel","severity":0}`, Unmounting},
		{"prolog-finish", ended(dwsSetup, 1), Unmounting},
		{"epilog-start", described(epilogName), Unmounting},
		{"prolog-finish", ended(prologName, 1), Unmounting},
		{"epilog-start", described(dwsEpilog), Unmounting},
		{"epilog-finish", ended(dwsEpilog, 0), Idling},
	},
	"an exception of no weight": {
		{"prolog-start", described(prologName), Mounting},
		{"exception", `{"type":"note","severity":3}`, Mounting},
		{environmentEvent, "", Stopping},
	},
	"an exception while it runs": {
		{"prolog-start", described(prologName), Mounting},
		{environmentEvent, "", Stopping},
		{"prolog-finish", ended(prologName, 0), Running},
		{"start", "", Running},
		{"exception", `{"type":"cancel","severity":0}`, Ending},
		{"epilog-start", described(epilogName), Ending},
		{"finish", `{"status":36608}`, Unmounting},
		{"epilog-start", described(dwsEpilog), Unmounting},
		{"epilog-finish", ended(dwsEpilog, 1), Over},
	},
	"no finish after a restart": {
		{"prolog-start", described(prologName), Mounting},
		{environmentEvent, "", Stopping},
		{"prolog-finish", ended(prologName, 0), Running},
		{"start", "", Running},
		{"exception", `{"type":"exec","severity":0}`, Ending},
		{"release", `{"ranks":"all","final":true}`, Unmounting},
	},
}

// Every prefix of every life is resumed: the state, and after it the way to
// the end with all holds finished once.
func TestResume(t *testing.T) {
	for name, life := range lives {
		for n := 1; n <= len(life); n++ {
			t.Run(fmt.Sprintf("%s/%d-%s", name, n, life[n-1].name), func(t *testing.T) {
				resumeAt(t, life, n)
			})
		}
	}
}

func resumeAt(t *testing.T, life []line, n int) {
	f := newFakeHost(t)
	var log strings.Builder
	var facts facts
	for i, l := range life[:n] {
		context := l.context
		if context == "" {
			context = "{}"
		}
		fmt.Fprintf(&log, "{\"timestamp\":%d,\"name\":%q,\"context\":%s}\n", i+1, l.name, context)
		entries, _ := ParseEventlog(fmt.Sprintf("{\"timestamp\":%d,\"name\":%q,\"context\":%s}", i+1, l.name, context))
		facts.add(entries[0])
	}
	for _, d := range []string{prologName, epilogName} {
		f.open[fmt.Sprintf("7 %s", d)] = facts.holds[d]
	}
	f.kvs["log 7"] = log.String()
	h := New(f, config.Default())
	state := "16"
	if facts.cleanup {
		state = "32"
	}
	h.New(strings.Replace(runArgs(7, true, "1-2"), `"state":16`, `"state":`+state, 1))
	f.pass(commitWait)
	want := life[n-1].rabbit
	if !slices.Contains(f.log, fmt.Sprintf("%s: resumed: %s", idString(7), want)) {
		t.Fatalf("want resumed: %s: %s", want, strings.Join(f.log, "; "))
	}
	if want == Over && len(h.kept) != 1 {
		t.Error("the unmount was given up: nothing is kept")
	}
	f.well()
	// The rest of the life, as the job manager that was started again tells it.
	if want == Mounting {
		h.JobEvent(eventArgs(7, environmentEvent, ""))
		f.well()
	}
	if w := h.windows[7]; w != nil && !facts.cleanup {
		if w.state != Running || w.prolog {
			t.Fatalf("in the middle: %s, prolog held: %t", w.state, w.prolog)
		}
		finished(h, 7)
		f.well()
		h.JobEvent(eventArgs(7, "epilog-finish", ended(dwsEpilog, 0)))
	} else if w != nil && w.state == Ending {
		h.JobEvent(eventArgs(7, "finish", `{"status":1}`))
		f.pass(0)
	} else if w != nil && w.state == Unmounting {
		h.JobEvent(eventArgs(7, "epilog-finish", ended(dwsEpilog, 0)))
	}
	f.pass(0)
	f.well()
	if w := h.windows[7]; w != nil {
		t.Errorf("at the end: %s", w.state)
	}
	if open := f.opened(); open != "" {
		t.Errorf("open at the end: %s", open)
	}
}

// A job that was resumed while its tasks are being killed waits for their end
// as long as the exec service has it, and no longer.
func TestResumedEnding(t *testing.T) {
	f := newFakeHost(t)
	f.running = map[uint64]bool{7: true}
	f.open["7 "+epilogName] = 1
	f.kvs["log 7"] = `{"timestamp":1,"name":"start"}
{"timestamp":2,"name":"exception","context":{"type":"cancel","severity":0}}
{"timestamp":3,"name":"epilog-start","context":{"description":"burrow-epilog"}}
`
	h := New(f, config.Default())
	h.New(strings.Replace(runArgs(7, true, "1"), `"state":16`, `"state":32`, 1))
	f.pass(commitWait)
	f.well()
	if h.windows[7].state != Ending {
		t.Fatalf("resumed as %s", h.windows[7].state)
	}
	f.pass(time.Hour)
	if h.windows[7] == nil || f.wishing() != "" {
		t.Fatalf("with tasks: %q", f.wishing())
	}
	f.running = nil
	f.pass(config.Default().ServiceTimeout + verifyDelay)
	f.well()
	f.pass(0)
	f.well()
	if h.windows[7] != nil || f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
}

// A given-up unmount is known anew after a restart in the middle of it, above
// the floor of the new load.
func TestKeptAfterResume(t *testing.T) {
	f := newFakeHost(t)
	f.open["7 "+epilogName] = 1
	f.kvs["log 7"] = `{"timestamp":1,"name":"start"}
{"timestamp":2,"name":"finish"}
{"timestamp":3,"name":"epilog-start","context":{"description":"dws-epilog"}}
{"timestamp":4,"name":"epilog-start","context":{"description":"burrow-epilog"}}
{"timestamp":5,"name":"epilog-finish","context":{"description":"dws-epilog","status":1}}
`
	h := New(f, config.Default())
	h.New(strings.Replace(runArgs(7, true, "1"), `"state":16`, `"state":32`, 1))
	f.pass(commitWait)
	if k := h.kept[7]; k == nil || k.gen <= h.floor {
		t.Fatalf("kept %+v, floor %d", k, h.floor)
	}
	var needs []wire.Need
	f.well()
	h.Wanted(1, func(r wire.WantedResponse, _ bool) { needs = r.Needs })
	if len(needs) != 1 || needs[0].Phase.String() != "unmount" || needs[0].Gen <= h.floor {
		t.Errorf("wanted on rank 1: %+v", needs)
	}
	if f.opened() != "" {
		t.Errorf("open: %s", f.opened())
	}
	// The next load has it from the KVS.
	h.Close()
	h = New(f, config.Default())
	f.pass(commitWait)
	f.well()
	if h.kept[7] == nil {
		t.Error("not kept over a reload")
	}
	h.Release(idset.New(1), func(r wire.ReleaseResponse) {
		if len(r.Released) != 1 {
			t.Errorf("released %+v", r)
		}
	})
}

// A crash may lose the end of a job that is kept already: resumed in its mount,
// it needs its services for that, and nothing ends the need.
func TestKeptAndResumed(t *testing.T) {
	f := newFakeHost(t)
	f.kvs[keptKey] = `[{"id":7,"ranks":"1-2","gen":5}]`
	f.open["7 "+prologName] = 1
	f.kvs["log 7"] = `{"timestamp":1,"name":"prolog-start","context":{"description":"burrow-prolog"}}`
	h := New(f, config.Default())
	h.New(runArgs(7, true, "1-2"))
	f.pass(commitWait)
	last := f.wishes[0]
	for _, w := range f.take() {
		if w.ID == 7 && w.Gen > last.Gen {
			last = w
		}
	}
	if last.Phase != phase.Mount || len(h.kept) != 0 {
		t.Errorf("the last wish is %v, kept %v", last, h.kept)
	}
}

// ender is a job manager where the end of a prolog's hold is the end of the job.
type ender struct {
	*fakeHost
	h *Hooks
}

func (e *ender) FreeProlog(id uint64, d string, status int) error {
	err := e.fakeHost.FreeProlog(id, d, status)
	e.h.Inactive(idArgs(int(id)))
	return err
}

// A job that is over as soon as its hold is let go asks for nothing after that.
func TestOverInMidEffects(t *testing.T) {
	f := newFakeHost(t)
	f.open["7 "+prologName] = 1
	f.kvs["log 7"] = `{"timestamp":1,"name":"prolog-start","context":{"description":"burrow-prolog"}}
{"timestamp":2,"name":"exception","context":{"type":"cancel","severity":0}}
`
	host := &ender{fakeHost: f}
	host.h = New(host, config.Default())
	host.h.New(strings.Replace(runArgs(7, true, "1-2"), `"state":16`, `"state":32`, 1))
	f.pass(commitWait)
	var last *wish
	for _, w := range f.take() {
		if w.ID == 7 && (last == nil || w.Gen > last.Gen) {
			last = w
		}
	}
	if last == nil || last.Phase != phase.Idle || len(host.h.windows) != 0 {
		t.Errorf("the last wish is %v, windows %v", last, host.h.windows)
	}
}
