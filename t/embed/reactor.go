// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// Reactor is a flux_reactor_t. Each handle has one; all turn in the
// instance's one loop.
type Reactor struct {
	h       *Handle
	cell    unsafe.Pointer
	stopped bool
	failed  bool
	running int
}

func (r *Reactor) pointer() unsafe.Pointer {
	if r.cell == nil {
		r.cell = r.h.in.cells.alloc(kindReactor, r)
	}
	return r.cell
}

// run turns the loop, all of it, until the reactor is stopped or nothing is
// left to do. Modules that have a function to start them do not need it.
func (r *Reactor) run() int {
	in := r.h.in
	r.stopped, r.failed = false, false
	r.running++
	for !r.stopped && !r.h.closed {
		if !in.step(in.Elapsed() + time.Hour) {
			break
		}
	}
	r.running--
	failed := r.failed
	r.stopped, r.failed = false, false
	if failed {
		return -1
	}
	return 0
}

//export embedGoReactorRun
func embedGoReactorRun(p unsafe.Pointer) C.int {
	return C.int(object[Reactor](p, kindReactor).run())
}

//export embedGoReactorStop
func embedGoReactorStop(p unsafe.Pointer, failed C.int) {
	r := object[Reactor](p, kindReactor)
	r.stopped, r.failed = true, failed != 0
}

//export embedGoReactorNow
func embedGoReactorNow(p unsafe.Pointer) C.double {
	return C.double(object[Reactor](p, kindReactor).h.in.Now())
}
