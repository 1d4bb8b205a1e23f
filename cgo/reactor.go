// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include "burrow_flux.h"
*/
import "C"

import "math"

func (h *Handle) reactor() *C.flux_reactor_t { return C.flux_get_reactor(h.h) }

// Run runs the handle's reactor until it is stopped. Implements
// flux_reactor_run(3).
func (h *Handle) Run() error {
	if rc, err := C.flux_reactor_run(h.reactor(), 0); rc < 0 {
		return failed(err)
	}
	return nil
}

// Stop makes Run return. Implements flux_reactor_stop(3).
func (h *Handle) Stop() { C.flux_reactor_stop(h.reactor()) }

// StopError makes Run return an error. Implements flux_reactor_stop_error(3).
func (h *Handle) StopError() { C.flux_reactor_stop_error(h.reactor()) }

// Now gives the reactor's time in seconds since the epoch, as of the last
// turn of its loop. Implements flux_reactor_now(3).
func (h *Handle) Now() float64 { return float64(C.flux_reactor_now(h.reactor())) }

// seconds keeps a duration within what the event loop takes.
func seconds(s float64) C.double {
	if math.IsNaN(s) || s < 0 {
		return 0
	}
	return C.double(math.Min(s, 1e9))
}
