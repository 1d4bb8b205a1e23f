// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	systemd1 "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// fakeManager is a systemd that does what a test tells it, on a bus of its
// own. It needs no root, and gives answers that a real one is hard to bring
// to.
type fakeManager struct {
	conn *dbus.Conn
	addr string

	mu    sync.Mutex
	units map[string]*fakeUnit
	jobs  uint32
	// orders are the verbs and units that were asked for.
	orders []string
}

type fakeUnit struct {
	load, active, sub string
	service           map[string]dbus.Variant
	// job is under way, for running verb, if it is not 0.
	job     uint32
	running Verb
	// end of a job: its result, after some time; the state follows the verb if
	// it is "done".
	result string
	takes  time.Duration
	// refuse is the answer to a request for a job.
	refuse *dbus.Error
	// deaf has requests never answered.
	deaf bool
}

// newFakeManager starts a bus and a manager on it, or skips the test.
func newFakeManager(t *testing.T) *fakeManager {
	t.Helper()
	path, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skipf("needs dbus-daemon: %v", err)
	}
	addr := "unix:path=" + filepath.Join(t.TempDir(), "bus")
	cmd := exec.Command(path, "--session", "--nofork", "--nopidfile", "--print-address", "--address="+addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := io.ReadAtLeast(out, make([]byte, 1000), 1); err != nil {
		t.Fatal(err)
	}
	f := &fakeManager{addr: addr, units: map[string]*fakeUnit{}}
	if f.conn, err = dbus.Connect(addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.conn.Close() })
	for _, err := range []error{
		f.conn.Export(fakeManagerMethods{f}, managerPath, managerIntf),
		f.conn.ExportSubtree(fakeUnitMethods{f}, managerPath+"/unit", propsIntf),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f.appear(t)
	return f
}

func (f *fakeManager) appear(t *testing.T) {
	t.Helper()
	if r, err := f.conn.RequestName(managerName, 0); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
}

func (f *fakeManager) vanish(t *testing.T) {
	t.Helper()
	if _, err := f.conn.ReleaseName(managerName); err != nil {
		t.Fatal(err)
	}
}

// set changes a unit, and makes it where it is not there.
func (f *fakeManager) set(name string, change func(*fakeUnit)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.units[name]
	if u == nil {
		u = &fakeUnit{load: "loaded", active: "inactive", sub: "dead", result: "done"}
		f.units[name] = u
	}
	change(u)
}

func (f *fakeManager) asked() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.orders, ", ")
}

// tell sends a unit's state. f.mu is held.
func (f *fakeManager) tell(name string, u *fakeUnit) {
	f.conn.Emit(unitPath(name), propsIntf+".PropertiesChanged", unitIntf, map[string]dbus.Variant{
		"ActiveState": dbus.MakeVariant(u.active),
		"SubState":    dbus.MakeVariant(u.sub),
	}, []string{})
}

// job begins a job as systemd does: one of the same kind is joined, one of the
// other kind ended.
func (f *fakeManager) job(verb Verb, name string) (dbus.ObjectPath, *dbus.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = append(f.orders, string(verb)+" "+name)
	u := f.units[name]
	switch {
	case u == nil:
		return "", dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", []any{"Unit not found."})
	case u.refuse != nil:
		return "", u.refuse
	case u.deaf:
		f.mu.Unlock()
		time.Sleep(2 * time.Second)
		f.mu.Lock()
	}
	if u.job != 0 && u.running != verb {
		f.end(name, u, "canceled")
	}
	if u.job == 0 {
		f.jobs++
		u.job, u.running = f.jobs, verb
		if u.takes > 0 {
			u.active = map[Verb]string{Start: "activating", Stop: "deactivating"}[verb]
			f.tell(name, u)
		}
		id := u.job
		time.AfterFunc(u.takes, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if u.job == id {
				f.end(name, u, u.result)
			}
		})
	}
	return dbus.ObjectPath(fmt.Sprintf("%s/job/%d", managerPath, u.job)), nil
}

func (f *fakeManager) end(name string, u *fakeUnit, result string) {
	id := u.job
	u.job = 0
	switch {
	case result == "done" && u.running == Start:
		u.active, u.sub = "active", "running"
	case result == "done" || u.running == Start && result != "canceled":
		u.active, u.sub = "inactive", "dead"
	}
	f.tell(name, u)
	f.conn.Emit(managerPath, managerIntf+".JobRemoved", id,
		dbus.ObjectPath(fmt.Sprintf("%s/job/%d", managerPath, id)), name, result)
}

type fakeManagerMethods struct{ f *fakeManager }

func (m fakeManagerMethods) Subscribe() *dbus.Error { return nil }
func (m fakeManagerMethods) StartUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return m.f.job(Start, name)
}
func (m fakeManagerMethods) StopUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return m.f.job(Stop, name)
}

func (m fakeManagerMethods) ListUnitsByNames(names []string) ([]systemd1.UnitStatus, *dbus.Error) {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	var list []systemd1.UnitStatus
	for _, name := range names {
		is := systemd1.UnitStatus{Name: name, LoadState: "not-found", ActiveState: "inactive", Path: unitPath(name), JobPath: "/"}
		if u := m.f.units[name]; u != nil {
			is.LoadState, is.ActiveState, is.SubState = u.load, u.active, u.sub
		}
		list = append(list, is)
	}
	return list, nil
}

type fakeUnitMethods struct{ f *fakeManager }

func (m fakeUnitMethods) GetAll(msg dbus.Message, intf string) (map[string]dbus.Variant, *dbus.Error) {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	path, _ := msg.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	for name, u := range m.f.units {
		if unitPath(name) != path {
			continue
		}
		if intf != unitIntf {
			return u.service, nil
		}
		return map[string]dbus.Variant{
			"Id":          dbus.MakeVariant(name),
			"LoadState":   dbus.MakeVariant(u.load),
			"ActiveState": dbus.MakeVariant(u.active),
			"SubState":    dbus.MakeVariant(u.sub),
		}, nil
	}
	return map[string]dbus.Variant{"Id": dbus.MakeVariant("gone.service"),
		"LoadState": dbus.MakeVariant("not-found"), "ActiveState": dbus.MakeVariant("inactive")}, nil
}

func newFakeNode(t *testing.T) (*node, *fakeManager) {
	f := newFakeManager(t)
	n := newNode(t, nil)
	n.open(f.addr)
	return n, f
}

func TestFakeStartStop(t *testing.T) {
	n, f := newFakeNode(t)
	f.set("a.service", func(u *fakeUnit) { u.takes = 5 * time.Millisecond })
	n.mustBe("a.service", Down)
	n.mustDo(Start, "a.service")
	n.mustBe("a.service", Up)
	n.mustDo(Stop, "a.service")
	n.mustBe("a.service", Down)
	if err := n.do(Stop, "gone.service"); !errors.Is(err, ErrAbsent) {
		t.Fatal(err)
	}
	if got, want := f.asked(), "start a.service, stop a.service"; got != want {
		t.Errorf("systemd was asked to %s; want %s", got, want)
	}
}

func TestFakeResults(t *testing.T) {
	n, f := newFakeNode(t)
	denied := dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", []any{"Permission\ndenied"})
	for _, c := range []struct {
		verb  Verb
		unit  fakeUnit
		parts []string
	}{
		{Start, fakeUnit{result: "timeout"}, []string{"JobTimeoutSec", "inactive (dead)"}},
		{Start, fakeUnit{result: "dependency"}, []string{"depends on failed"}},
		{Start, fakeUnit{result: "canceled"}, []string{"canceled by another request"}},
		{Start, fakeUnit{result: "frozen"}, []string{"frozen, the unit is inactive (dead)"}},
		{Start, fakeUnit{result: "failed", service: map[string]dbus.Variant{
			"Result": dbus.MakeVariant("exit-code"), "ExecMainCode": dbus.MakeVariant(int32(1)),
			"ExecMainStatus": dbus.MakeVariant(int32(7)), "StatusText": dbus.MakeVariant("no license")}},
			[]string{"Result=exit-code", "ExecMainStatus=7", `"no license"`}},
		{Stop, fakeUnit{active: "active", result: "failed"}, []string{"failed, the unit is active"}},
		{Stop, fakeUnit{refuse: denied}, []string{"not permitted (Permission denied)", "50-flux-burrow.rules"}},
		{Start, fakeUnit{refuse: dbus.NewError("org.freedesktop.systemd1.UnitMasked", nil)}, []string{"systemctl unmask r"}},
		{Start, fakeUnit{load: "masked"}, []string{"systemctl unmask r"}},
		{Start, fakeUnit{refuse: dbus.NewError("org.freedesktop.systemd1.LoadFailed", []any{"bad"})}, []string{"file is bad"}},
		{Start, fakeUnit{refuse: dbus.NewError("org.freedesktop.systemd1.TransactionIsDestructive", nil)}, []string{"TransactionIsDestructive"}},
	} {
		name := fmt.Sprintf("r%d.service", rand.Int63())
		f.set(name, func(u *fakeUnit) {
			*u = c.unit
			if u.load == "" {
				u.load = "loaded"
			}
			if u.active == "" {
				u.active, u.sub = "inactive", "dead"
			}
		})
		wantError(t, n.do(c.verb, name), append(c.parts, string(c.verb)+" "+name+": ")...)
	}
	f.set("refused.service", func(u *fakeUnit) {
		u.refuse = dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", nil)
	})
	if err := n.do(Start, "refused.service"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
}

// TestFakeDeaf has a request that systemd, or polkit, does not answer. Other
// units don't wait for it.
func TestFakeDeaf(t *testing.T) {
	n, f := newFakeNode(t)
	f.set("deaf.service", func(u *fakeUnit) { u.deaf = true })
	f.set("a.service", func(*fakeUnit) {})
	deaf := n.order(Start, "deaf.service", 300*time.Millisecond)
	n.mustDo(Start, "a.service")
	select {
	case err := <-deaf:
		t.Fatal("the other came first: ", err)
	default:
	}
	wantError(t, await(t, deaf), "start deaf.service: not done after 300ms")
}

// TestFakeVanishes has systemd leave the bus under an order and come back.
func TestFakeVanishes(t *testing.T) {
	n, f := newFakeNode(t)
	f.set("a.service", func(u *fakeUnit) { u.takes = 300 * time.Millisecond })
	start := n.order(Start, "a.service", 10*time.Second)
	n.untilActivating("a.service")
	f.vanish(t)
	time.Sleep(500 * time.Millisecond) // its job ends unseen
	f.appear(t)
	if err := await(t, start); err != nil {
		t.Fatal(err)
	}
	n.mustBe("a.service", Up)
	f.vanish(t)
	n.until("the link is dropped", func() bool { return !n.link().alive() })
	err := await(t, n.order(Stop, "a.service", 200*time.Millisecond))
	t.Logf("%v", err)
	wantError(t, err, "stop a.service: systemd was not reached in 200ms")
}

// TestFakePanic has a panic in the middle of an order and of a question. It is
// an error, and the next order is carried out.
func TestFakePanic(t *testing.T) {
	n, f := newFakeNode(t)
	f.set("a.service", func(*fakeUnit) {})
	n.mustDo(Start, "a.service")
	n.link().setup, n.link().mgr = nil, nil
	n.link().units["a.service"].forget()
	n.link().setup = make(chan struct{}, 1)
	wantError(t, n.do(Stop, "a.service"), "stop a.service: internal error:")
	_, err := n.state("a.service")
	wantError(t, err, "status a.service: internal error:")
	n.link().drop()
	n.until("the link is dropped", func() bool { return !n.link().alive() })
	n.mustDo(Stop, "a.service")
}

// TestFakeLeaksNothing has links come and go, and counts goroutines.
func TestFakeLeaksNothing(t *testing.T) {
	n, f := newFakeNode(t)
	f.set("a.service", func(*fakeUnit) {})
	cycle := func() {
		n.mustDo(Start, "a.service")
		n.mustDo(Stop, "a.service")
		l := n.link()
		l.drop()
		n.until("the link is dropped", func() bool { return !l.alive() })
	}
	cycle()
	before := runtime.NumGoroutine()
	for range 30 {
		cycle()
	}
	n.until("goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}

// TestFakeRandom has many orders while systemd comes and goes: each ends once,
// in its turn, and afterwards State has it right.
func TestFakeRandom(t *testing.T) {
	n, f := newFakeNode(t)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	units := []string{"a.service", "b.service", "c.service"}
	for _, u := range units {
		f.set(u, func(u *fakeUnit) { u.takes = 2 * time.Millisecond })
	}
	type end struct {
		unit string
		i    int
		err  error
	}
	const each = 60
	ends := make(chan end, each*len(units))
	last := map[string]Verb{}
	for i := range each {
		for _, unit := range units {
			verb := []Verb{Start, Stop}[rnd.Intn(2)]
			last[unit] = verb
			n.run(func() {
				n.c.Do(Order{Verb: verb, Unit: unit, Timeout: waitLimit}, func(err error) { ends <- end{unit, i, err} })
			})
		}
		switch rnd.Intn(8) {
		case 0:
			f.vanish(t)
			time.Sleep(time.Duration(rnd.Intn(20)) * time.Millisecond)
			f.appear(t)
		case 1:
			if l := n.link(); l != nil {
				l.drop()
			}
		}
		time.Sleep(time.Duration(rnd.Intn(10)) * time.Millisecond)
	}
	next := map[string]int{}
	for range each * len(units) {
		e := await(t, ends)
		if e.err != nil || e.i != next[e.unit] {
			t.Fatalf("order %d of %s ended as number %d: %v", e.i, e.unit, next[e.unit], e.err)
		}
		next[e.unit]++
	}
	for _, unit := range units {
		n.mustBe(unit, map[Verb]State{Start: Up, Stop: Down}[last[unit]])
	}
}
