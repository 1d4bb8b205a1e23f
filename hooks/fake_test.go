// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// fakeHost is a job manager by hand. Wishes wait until a test answers them.
type fakeHost struct {
	t      *testing.T
	size   uint32
	now    time.Time
	timers []*fakeTimer
	kvs    map[string]string
	// open are the holds that are open, by job and description.
	open   map[string]int
	events []string
	raised []string
	// mute: an exception can't be raised.
	mute bool
	// status is that of the last prolog that was let go.
	status int
	drains []string
	log    []string
	wishes []*wish
	// running are the jobs that the exec service has; unsaid is its error.
	running map[uint64]bool
	unsaid  error
	asked   func()
}

type fakeTimer struct {
	at time.Time
	fn func()
}

type wish struct {
	wire.SetRequest
	answer func(wire.SetResponse)
}

func newFakeHost(t *testing.T) *fakeHost {
	return &fakeHost{t: t, size: 4, now: time.Unix(1e9, 0), kvs: map[string]string{}, open: map[string]int{}}
}

func (f *fakeHost) hold(id uint64, what string, by int) error {
	key := fmt.Sprintf("%d %s", id, what)
	f.open[key] += by
	if n := f.open[key]; n < 0 || n > 1 {
		f.t.Errorf("%s: %d open", key, n)
	}
	f.events = append(f.events, fmt.Sprintf("%s %+d", key, by))
	return nil
}

func (f *fakeHost) HoldProlog(id uint64, d string, _ bool) error { return f.hold(id, d, 1) }
func (f *fakeHost) HoldEpilog(id uint64, d string, _ bool) error { return f.hold(id, d, 1) }
func (f *fakeHost) FreeEpilog(id uint64, d string, _ int) error  { return f.hold(id, d, -1) }
func (f *fakeHost) Subscribe(uint64) error                       { return nil }
func (f *fakeHost) Size() uint32                                 { return f.size }
func (f *fakeHost) Now() time.Time                               { return f.now }

func (f *fakeHost) FreeProlog(id uint64, d string, status int) error {
	f.status = status
	return f.hold(id, d, -1)
}

func (f *fakeHost) Raise(id uint64, kind string, _ int, note string) error {
	if f.mute {
		return errors.New("no")
	}
	f.raised = append(f.raised, fmt.Sprintf("%d %s: %s", id, kind, note))
	return nil
}

func (f *fakeHost) Set(req wire.SetRequest, done func(wire.SetResponse)) {
	f.wishes = append(f.wishes, &wish{req, done})
}

func (f *fakeHost) Drain(ranks *idset.Set, reason string) {
	f.drains = append(f.drains, fmt.Sprintf("%s %s", ranks, reason))
}

func (f *fakeHost) Eventlog(id uint64, done func(string, error)) {
	f.Load(fmt.Sprintf("log %d", id), done)
}

func (f *fakeHost) Executing(done func(map[uint64]bool, error)) {
	if f.asked != nil {
		f.asked()
	}
	f.After(0, func() { done(f.running, f.unsaid) })
}

func (f *fakeHost) Load(key string, done func(string, error)) {
	f.After(0, func() { done(f.kvs[key], nil) })
}

func (f *fakeHost) Store(key, value string) { f.kvs[key] = value }

func (f *fakeHost) After(d time.Duration, fn func()) func() {
	t := &fakeTimer{at: f.now.Add(d), fn: fn}
	f.timers = append(f.timers, t)
	return func() { t.fn = nil }
}

func (f *fakeHost) Log(_ int, format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// pass lets time pass.
func (f *fakeHost) pass(d time.Duration) {
	end := f.now.Add(d)
	for {
		var next *fakeTimer
		for _, t := range f.timers {
			if t.fn != nil && !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		f.now = next.at
		fn := next.fn
		next.fn = nil
		fn()
	}
	f.now = end
}

// take gives the wishes since the last call, as "ID PHASE RANKS".
func (f *fakeHost) take() []*wish {
	w := f.wishes
	f.wishes = nil
	return w
}

func (w *wish) String() string { return fmt.Sprintf("%d %s %s", w.ID, w.Phase, w.Ranks) }

// well answers all wishes that wait.
func (f *fakeHost) well() {
	for len(f.wishes) > 0 {
		for _, w := range f.take() {
			w.answer(wire.SetResponse{})
		}
	}
}

// wishing gives the wishes that wait as one line, and keeps them.
func (f *fakeHost) wishing() string {
	var s []string
	for _, w := range f.wishes {
		s = append(s, w.String())
	}
	return strings.Join(s, "; ")
}

func (f *fakeHost) expect(want string) []*wish {
	f.t.Helper()
	if got := f.wishing(); got != want {
		f.t.Fatalf("wishes %q, want %q", got, want)
	}
	return f.take()
}

func (f *fakeHost) opened() string {
	var s []string
	for _, key := range slices.Sorted(maps.Keys(f.open)) {
		if f.open[key] > 0 {
			s = append(s, key)
		}
	}
	return strings.Join(s, ", ")
}

// newHooks makes hooks that have come up on clean nodes.
func newHooks(t *testing.T, change func(*config.Config)) (*fakeHost, *Hooks) {
	f := newFakeHost(t)
	cfg := config.Default()
	if change != nil {
		change(cfg)
	}
	h := New(f, cfg)
	f.pass(2 * time.Minute)
	f.well()
	return f, h
}

const withDW = `,"jobspec":{"attributes":{"system":{"dw":["#DW jobdw"]}}}`

func runArgs(id int, rabbit bool, ranks string) string {
	dw := ""
	if rabbit {
		dw = withDW
	}
	return fmt.Sprintf(`{"id":%d,"state":16%s,"R":{"version":1,"execution":{"R_lite":[{"rank":%q}]}}}`, id, dw, ranks)
}

var stampOf = 1.0

func eventArgs(id int, name, context string) string {
	stampOf++
	if context == "" {
		context = "{}"
	}
	return fmt.Sprintf(`{"id":%d,"entry":{"timestamp":%f,"name":%q,"context":%s}}`, id, stampOf, name, context)
}

func described(d string) string { return fmt.Sprintf(`{"description":%q}`, d) }

func ended(d string, status int) string {
	return fmt.Sprintf(`{"description":%q,"status":%d}`, d, status)
}

func idArgs(id int) string { return fmt.Sprintf(`{"id":%d}`, id) }

// rabbit starts a rabbit job with dws.
func rabbit(h *Hooks, id int, ranks string) {
	h.Run(runArgs(id, true, ranks))
	h.JobEvent(eventArgs(id, "prolog-start", described(prologName)))
	h.JobEvent(eventArgs(id, "prolog-start", described(dwsSetup)))
}

func environment(h *Hooks, id int) {
	h.JobEvent(eventArgs(id, environmentEvent, ""))
	h.JobEvent(eventArgs(id, "prolog-finish", ended(dwsSetup, 0)))
}

// finished ends a job's tasks; dws holds its epilog.
func finished(h *Hooks, id int) {
	h.JobEvent(eventArgs(id, "finish", `{"status":0}`))
	h.Cleanup(idArgs(id))
	h.JobEvent(eventArgs(id, "epilog-start", described(dwsEpilog)))
}
