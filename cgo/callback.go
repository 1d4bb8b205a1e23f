// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include "burrow_flux.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/cgo"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// The Go bodies of wrap.c. Each recovers: a panic that leaves Go ends the
// broker.

// panics are where the text of a panic goes: one sink for each handle, with
// the thread that the handle belongs to.
var panics struct {
	sync.Mutex
	sinks []*panicSink
}

type panicSink struct {
	thread int
	log    func(text string)
}

// OnPanic sets what is done, on the thread that calls it, with the text of a
// panic caught in a callback or by Recover, until remove is called.
func OnPanic(log func(text string)) (remove func()) {
	sink := &panicSink{thread: unix.Gettid(), log: log}
	panics.Lock()
	defer panics.Unlock()
	panics.sinks = append(panics.sinks, sink)
	return func() {
		panics.Lock()
		defer panics.Unlock()
		panics.sinks = slices.DeleteFunc(panics.sinks, func(s *panicSink) bool { return s == sink })
	}
}

// report gives a panic's text to the sink of this thread. On a thread without
// one it goes to stderr: a handle is of no use on another thread than its own.
func report(text string) {
	panics.Lock()
	var log func(string)
	thread := unix.Gettid()
	for _, s := range panics.sinks {
		if s.thread == thread {
			log = s.log
		}
	}
	panics.Unlock()
	if log == nil {
		fmt.Fprintln(os.Stderr, "flux-burrow: "+text)
		return
	}
	log(text)
}

// Recover, deferred, turns a panic into a line of the log and a call of
// failed, which may be nil.
func Recover(where string, failed func()) {
	r := recover()
	if r == nil {
		return
	}
	report(fmt.Sprintf("BUG: panic in %s: %v\n%s", where, r, debug.Stack()))
	if failed != nil {
		failed()
	}
}

//export burrowGoWatcher
func burrowGoWatcher(id C.uintptr_t, revents C.int) {
	defer Recover("watcher", nil)
	cgo.Handle(id).Value().(func(int))(int(revents))
}

//export burrowGoMessage
func burrowGoMessage(id C.uintptr_t, h *C.flux_t, msg *C.flux_msg_t) {
	r := &Request{h: &Handle{h: h}, msg: msg}
	defer Recover("message handler", func() {
		_ = r.RespondError(&Error{Num: 71, Text: "internal error, see the broker's log"})
	})
	cgo.Handle(id).Value().(func(*Request))(r)
}

//export burrowGoFuture
func burrowGoFuture(id C.uintptr_t) {
	defer Recover("continuation", nil)
	f := cgo.Handle(id).Value().(*Future)
	f.then(f)
}

//export burrowGoPlugin
func burrowGoPlugin(id C.uintptr_t, topic *C.char, args *C.flux_plugin_arg_t) (rc C.int) {
	name := C.GoString(topic)
	defer Recover(name, func() { rc = -1 })
	fn := cgo.Handle(id).Value().(func(string, *Args) error)
	if err := fn(name, &Args{a: args}); err != nil {
		return -1
	}
	return 0
}

//export burrowGoDestroy
func burrowGoDestroy(id C.uintptr_t) {
	defer Recover("destructor", nil)
	h := cgo.Handle(id)
	fn := h.Value().(func())
	h.Delete()
	fn()
}
