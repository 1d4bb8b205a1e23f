// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include "burrow_flux.h"
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"sync/atomic"
)

// The Go bodies of wrap.c. Each recovers: a panic that leaves Go ends the
// broker.

var onPanic atomic.Pointer[func(text string)]

// OnPanic sets what is done with the text of a panic caught in a callback or
// by Recover, such as to log it. The default is to drop it.
func OnPanic(fn func(text string)) { onPanic.Store(&fn) }

// Recover, deferred, turns a panic into a call of the function of OnPanic and
// of failed, which may be nil.
func Recover(where string, failed func()) {
	r := recover()
	if r == nil {
		return
	}
	if fn := onPanic.Load(); fn != nil {
		(*fn)(fmt.Sprintf("BUG: panic in %s: %v\n%s", where, r, debug.Stack()))
	}
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
