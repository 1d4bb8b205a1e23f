// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	flux "flux-burrow/cgo"
)

// Module is a broker module on one rank.
type Module struct {
	Name   string
	Rank   int
	Handle *Handle

	in      *Instance
	stop    func()
	running bool
	ended   bool
	killed  bool
	exec    bool
	// Failed is set when the module stopped its reactor with an error or
	// without being asked. A real broker panics then.
	Failed bool
}

// ModuleOption changes how LoadModule loads.
type ModuleOption func(*Module)

// AsProcess loads the module as `flux module load --exec` does: requests that
// it leaves unanswered when it ends are answered for it.
func AsProcess(m *Module) { m.exec = true }

// LoadModule starts a module on a rank. start is what the module's mod_main
// does before it runs the reactor: it gives what is to be done after the
// reactor was stopped, which may be nil. The module is also stopped when its
// own code stops its reactor.
func (in *Instance) LoadModule(rank int, name string, args []string, start func(h *flux.Handle, args []string) (stop func(), err error), opts ...ModuleOption) (*Module, error) {
	b := in.brokers[rank]
	if !b.up || in.deadOn(rank) >= 0 {
		return nil, &Error{Num: syscall.EHOSTUNREACH, Text: strerror(syscall.EHOSTUNREACH)}
	}
	if b.services[name] != nil || in.builtins[name] != nil {
		return nil, &Error{Num: syscall.EEXIST, Text: name + ": " + strerror(syscall.EEXIST)}
	}
	m := &Module{Name: name, Rank: rank, in: in}
	for _, o := range opts {
		o(m)
	}
	m.Handle = in.newHandle(rank, name)
	m.Handle.module = m
	b.addService(name, m.Handle)
	b.modules = append(b.modules, m)
	stop, err := start(flux.FromPointer(m.Handle.pointer()), args)
	m.stop = stop
	if err != nil {
		m.end(true)
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.Handle.reactor.stopped {
		m.exited()
		return nil, errors.New(name + ": stopped its reactor while it was loaded")
	}
	return m, nil
}

// Unload ends the module as `flux module remove` does: its reactor is
// stopped, its stop function is called, requests that it did not look at get
// ENOSYS, and services that it used get a disconnect. Requests that it took
// and did not answer stay unanswered for ever, unless it runs as a process:
// then they get EHOSTUNREACH, "module disconnect" (all three seen on 0.88).
func (m *Module) Unload() {
	if !m.ended {
		m.end(true)
	}
}

// Kill ends the module as a process that is killed ends (kill -9, with
// broker.module-nopanic set): its stop function is not called, its handle is
// gone, and all that waits for an answer of it gets EHOSTUNREACH, "module
// disconnect".
func (m *Module) Kill() {
	if m.ended {
		return
	}
	m.exec, m.killed, m.stop = true, true, nil
	m.end(false)
}

// Pause stops the module as SIGSTOP stops the process of one that was loaded
// with --exec: what is meant for it waits until Resume.
func (m *Module) Pause() { m.Handle.paused = true }

// Resume is SIGCONT.
func (m *Module) Resume() {
	m.Handle.paused = false
	m.Handle.unstash()
}

// Ended tells whether the module is gone.
func (m *Module) Ended() bool { return m.ended || m.Handle.closed }

// exited: its reactor was stopped by its own code.
func (m *Module) exited() {
	if m.ended {
		return
	}
	m.Failed = m.Handle.reactor.failed
	if m.Failed {
		m.in.log(m.Rank, m.Name, 2, "module exiting abnormally")
		m.in.panics = append(m.in.panics, m.Name+" module runtime failure")
	}
	m.end(true)
}

func (m *Module) end(orderly bool) {
	if m.ended || m.Handle.closed {
		return
	}
	m.ended = true
	in, b := m.in, m.in.brokers[m.Rank]
	if m.stop != nil {
		m.stop()
	}
	var left []*Msg
	for l := m.Handle.requests.next; l != &m.Handle.requests; l = l.next {
		left = append(left, l.m)
	}
	m.Handle.close(orderly)
	for i, o := range b.modules {
		if o == m {
			b.modules = append(b.modules[:i:i], b.modules[i+1:]...)
			break
		}
	}
	if m.exec {
		for _, r := range left {
			in.refuse(r, m.Rank, syscall.EHOSTUNREACH, "module disconnect")
		}
	}
}

// Modules gives the modules of a rank in the order of their loading.
func (in *Instance) Modules(rank int) []*Module {
	return append([]*Module(nil), in.brokers[rank].modules...)
}

// defaultMethod answers what every module answers without its own doing
// (libflux/method.c).
func (h *Handle) defaultMethod(m *Msg) bool {
	if h.module == nil {
		return false
	}
	_, method, _ := strings.Cut(m.topic, ".")
	switch method {
	case "shutdown":
		h.reactor.stopped = true
	case "config-reload", "config-update":
		h.respond(m, "", false)
	case "stats-get":
		h.respond(m, fmt.Sprintf(`{"tx":{"request":%d,"response":%d,"event":%d,"control":%d},"rx":{"request":%d,"response":%d,"event":%d,"control":%d}}`,
			h.tx[0], h.tx[1], h.tx[2], h.tx[3], h.rx[0], h.rx[1], h.rx[2], h.rx[3]), true)
	case "ping":
		h.respond(m, jsonSet(m.payload, map[string]any{"route": m.from.name + "!" + h.name,
			"userid": m.userid, "rolemask": m.rolemask, "rank": h.rank}), true)
	case "disconnect":
		return true
	default:
		return false
	}
	return true
}
