// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
	"time"
)

// Forever is the timeout of a wait that ends only with an answer, for
// streams. All other waits give a limit.
const Forever time.Duration = -1

// Future is a result that comes later. It is its owner's to destroy; Then
// callbacks may destroy it.
type Future struct {
	f    *C.flux_future_t
	id   cgo.Handle
	then func(*Future)
}

// Then has fn called on the reactor's thread when the result is there, or
// after timeout, when Get gives ETIMEDOUT. Implements flux_future_then(3).
func (f *Future) Then(timeout time.Duration, fn func(*Future)) error {
	if f.f == nil {
		return &Error{Num: syscall.EINVAL}
	}
	limit := C.double(-1)
	if timeout >= 0 {
		limit = seconds(timeout.Seconds())
	}
	f.then = fn
	if f.id == 0 {
		f.id = cgo.NewHandle(f)
	}
	if rc, err := C.burrow_future_then(f.f, limit, C.uintptr_t(f.id)); rc < 0 {
		return failed(err)
	}
	return nil
}

// Wait blocks for the result. Only for entry points, before the reactor runs.
// Implements flux_future_wait_for(3).
func (f *Future) Wait(timeout time.Duration) error {
	if rc, err := C.flux_future_wait_for(f.f, seconds(timeout.Seconds())); rc < 0 {
		return failed(err)
	}
	return nil
}

// Reset makes the future ready for a stream's next response. Implements
// flux_future_reset(3).
func (f *Future) Reset() {
	if f.f != nil {
		C.flux_future_reset(f.f)
	}
}

// error gives the future's own text where it has one.
func (f *Future) error(err error) error {
	e := failed(err).(*Error)
	if bool(C.flux_future_has_error(f.f)) {
		if s := C.flux_future_error_string(f.f); s != nil {
			e.Text = C.GoString(s)
		}
	}
	return e
}

// Destroy drops the result and its callback. Implements
// flux_future_destroy(3).
func (f *Future) Destroy() {
	if f == nil || f.f == nil {
		return
	}
	C.flux_future_destroy(f.f)
	if f.id != 0 {
		f.id.Delete()
	}
	f.f = nil
}
