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

// Watcher is a flux_watcher_t: a timer or a file descriptor.
type Watcher struct {
	h      *Handle
	cell   unsafe.Pointer
	cb     uintptr
	arg    uintptr
	active bool

	isTimer bool
	timer   timer
	after   time.Duration
	repeat  time.Duration

	fd     int
	events int
	queued bool
	fn     func() // of the instance's own
}

func (w *Watcher) call(revents int) {
	if w.fn != nil {
		w.fn()
		return
	}
	C.embed_call_watcher(C.uintptr_t(w.cb), w.h.reactor.pointer(), w.cell, C.int(revents), C.uintptr_t(w.arg))
}

func (w *Watcher) born() unsafe.Pointer {
	if w.h.watchers == nil {
		w.h.watchers = map[*Watcher]struct{}{}
	}
	w.h.watchers[w] = struct{}{}
	w.cell = w.h.in.cells.alloc(kindWatcher, w)
	return w.cell
}

func (w *Watcher) start() {
	if w.active || w.h.closed {
		return
	}
	w.active = true
	if w.isTimer {
		w.h.in.arm(&w.timer, w.after)
	} else {
		w.h.in.addFD(w)
	}
}

func (w *Watcher) stop() {
	if !w.active {
		return
	}
	w.active = false
	if w.isTimer {
		w.h.in.disarm(&w.timer)
	} else {
		w.h.in.removeFD(w)
	}
}

func (w *Watcher) expired() {
	if !w.active {
		return
	}
	// As libev does: a timer that does not repeat is stopped before its
	// callback, which may start it again.
	if w.repeat > 0 {
		w.h.in.arm(&w.timer, w.repeat)
	} else {
		w.active = false
	}
	w.call(0)
}

func (w *Watcher) destroy() {
	w.stop()
	delete(w.h.watchers, w)
	if w.cell != nil {
		w.h.in.cells.release(w.cell)
		w.cell = nil
	}
}

//export embedGoTimerCreate
func embedGoTimerCreate(r unsafe.Pointer, after, repeat C.double, cb, arg C.uintptr_t, err *C.int) unsafe.Pointer {
	re := object[Reactor](r, kindReactor)
	if re == nil || after < 0 || repeat < 0 {
		*err = C.EINVAL
		return nil
	}
	w := &Watcher{h: re.h, cb: uintptr(cb), arg: uintptr(arg), isTimer: true,
		after: seconds(float64(after)), repeat: seconds(float64(repeat))}
	w.timer = timer{index: -1, t: task{owner: w.h, fn: w.expired}}
	return w.born()
}

//export embedGoFDCreate
func embedGoFDCreate(r unsafe.Pointer, fd, events C.int, cb, arg C.uintptr_t, err *C.int) unsafe.Pointer {
	re := object[Reactor](r, kindReactor)
	if re == nil || fd < 0 {
		*err = C.EINVAL
		return nil
	}
	w := &Watcher{h: re.h, cb: uintptr(cb), arg: uintptr(arg), fd: int(fd), events: int(events)}
	return w.born()
}

//export embedGoTimerReset
func embedGoTimerReset(p unsafe.Pointer, after, repeat C.double) {
	w := object[Watcher](p, kindWatcher)
	if w == nil || !w.isTimer {
		return
	}
	w.after, w.repeat = seconds(float64(after)), seconds(float64(repeat))
}

//export embedGoWatcherStart
func embedGoWatcherStart(p unsafe.Pointer) {
	if w := object[Watcher](p, kindWatcher); w != nil {
		w.start()
	}
}

//export embedGoWatcherStop
func embedGoWatcherStop(p unsafe.Pointer) {
	if w := object[Watcher](p, kindWatcher); w != nil {
		w.stop()
	}
}

//export embedGoWatcherDestroy
func embedGoWatcherDestroy(p unsafe.Pointer) {
	if w := object[Watcher](p, kindWatcher); w != nil {
		w.destroy()
	}
}
