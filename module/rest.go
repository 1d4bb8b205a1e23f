// SPDX-License-Identifier: LGPL-3.0-or-later

package main

// #include "burrow_flux.h"
// #include "rest.h"
import "C"

import (
	"runtime/debug"

	flux "flux-burrow/cgo"
	"flux-burrow/module/roles"
)

// garbage is the growth of the heap, in percent, at which it is collected: the
// runtime's default.
const garbage = 100

// heapLimit is where it is collected at rest, bytes. It is not reached there.
const heapLimit = 32 << 20

func init() {
	roles.Rest = func(h *flux.Handle) {
		C.burrow_rest_later((*C.flux_t)(h.Pointer()), 1)
		// Or the runtime collects every two minutes what is not there. Here, not
		// on the goroutine: a Wake that comes meanwhile is to have the last word.
		debug.SetMemoryLimit(heapLimit)
		debug.SetGCPercent(-1)
		go debug.FreeOSMemory()
	}
	roles.Wake = func() { debug.SetGCPercent(garbage) }
}
