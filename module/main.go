// SPDX-License-Identifier: LGPL-3.0-or-later

package main

/*
#cgo CFLAGS: -std=gnu11 -Wall -I${SRCDIR}/../cgo
#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-all
#include "burrow_flux.h"
*/
import "C"

import (
	"strings"
	"syscall"
	"unsafe"

	flux "flux-burrow/cgo"
	"flux-burrow/module/roles"
)

func main() {}

// burrowGoTouch does nothing but enter Go, by which the calling thread gets
// the signal mask that entry.c then mends.
//
//export burrowGoTouch
func burrowGoTouch() {}

//export burrowGoPluginInit
func burrowGoPluginInit(p *C.flux_plugin_t) (errnum C.int) {
	defer flux.Recover("flux_plugin_init", func() { errnum = C.int(syscall.EINVAL) })
	limitProcs("hooks")
	plugin := flux.PluginFromPointer(unsafe.Pointer(p))
	return result(plugin.Handle(), roles.Hooks(plugin))
}

//export burrowGoModule
func burrowGoModule(h *C.flux_t, argc C.int, argv **C.char) (errnum C.int) {
	defer flux.Recover("mod_main", func() { errnum = C.int(syscall.EINVAL) })
	var args []string
	for _, arg := range unsafe.Slice(argv, int(argc)) {
		args = append(args, C.GoString(arg))
	}
	handle := flux.FromPointer(unsafe.Pointer(h))
	role, start := "agent", roles.StartAgent
	if strings.HasPrefix(handle.ModuleName(), "sched-burrow") {
		role, start = "scheduler", roles.StartScheduler
	}
	limitProcs(role)
	return result(handle, roles.Run(handle, args, start))
}

// result logs why a load failed, which the broker itself does not say, and
// gives the errno for it.
func result(h *flux.Handle, err error) C.int {
	if err == nil {
		return 0
	}
	h.Log(flux.LogErr, "%v", err)
	return C.int(flux.Errno(err, syscall.EINVAL))
}
