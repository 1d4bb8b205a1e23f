// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"time"
)

// watcher owns a flux_watcher_t and the handle of its callback.
type watcher struct {
	w  *C.flux_watcher_t
	id cgo.Handle
}

// Destroy stops the watcher. Implements flux_watcher_destroy(3).
func (w *watcher) Destroy() {
	if w == nil || w.w == nil {
		return
	}
	C.flux_watcher_destroy(w.w)
	w.id.Delete()
	w.w = nil
}

// Timer calls a function once, after a time.
type Timer struct {
	watcher
	h *Handle
}

// After makes a timer that calls fn once on the reactor's thread, after d,
// counted from the start of this turn of the loop. It is its owner's to
// destroy. Implements flux_timer_watcher_create(3).
//
// The loop's time is not brought up to date first, as flux_reactor_now_update
// would do: broker, job-manager and libflux-core each have a copy of the event
// loop's code, and that of libflux-core, which made no loop, takes the
// realtime clock for the monotonic one. All timers made after are then over
// at once.
func (h *Handle) After(d time.Duration, fn func()) (*Timer, error) {
	t := &Timer{h: h}
	t.id = cgo.NewHandle(func(int) { fn() })
	w, err := C.burrow_timer_create(h.reactor(), seconds(d.Seconds()), C.uintptr_t(t.id))
	if w == nil {
		t.id.Delete()
		return nil, failed(err)
	}
	t.w = w
	C.flux_watcher_start(w)
	return t, nil
}

// Reset starts the timer anew. Implements flux_timer_watcher_reset(3).
func (t *Timer) Reset(d time.Duration) {
	if t.w == nil {
		return
	}
	C.flux_watcher_stop(t.w)
	C.flux_timer_watcher_reset(t.w, seconds(d.Seconds()), 0)
	C.flux_watcher_start(t.w)
}

// FDWatcher calls a function when a file descriptor can be read.
type FDWatcher struct {
	watcher
}

// WatchRead calls fn on the reactor's thread while fd can be read. With
// background set, the watcher does not keep Run from returning. Implements
// flux_fd_watcher_create(3) and flux_watcher_unref(3).
func (h *Handle) WatchRead(fd int, background bool, fn func()) (*FDWatcher, error) {
	w := &FDWatcher{}
	w.id = cgo.NewHandle(func(int) { fn() })
	cw, err := C.burrow_fd_create(h.reactor(), C.int(fd), C.FLUX_POLLIN, C.uintptr_t(w.id))
	if cw == nil {
		w.id.Delete()
		return nil, failed(err)
	}
	w.w = cw
	if background {
		C.flux_watcher_unref(cw)
	}
	C.flux_watcher_start(cw)
	return w, nil
}
