// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Node ids with a meaning of their own (flux_rpc(3)).
const (
	NodeAny      uint32 = C.FLUX_NODEID_ANY
	NodeUpstream uint32 = C.FLUX_NODEID_UPSTREAM
)

// Handle is a connection to the broker. It is borrowed from the broker or the
// job manager, which closes it.
type Handle struct {
	h *C.flux_t
}

// FromPointer makes a Handle of a flux_t that C code owns.
func FromPointer(p unsafe.Pointer) *Handle {
	return &Handle{h: (*C.flux_t)(p)}
}

// Pointer gives the flux_t, for C code.
func (h *Handle) Pointer() unsafe.Pointer { return unsafe.Pointer(h.h) }

// Same tells whether two handles are the same connection.
func (h *Handle) Same(o *Handle) bool { return h.h == o.h }

// Rank gives this broker's rank. Implements flux_get_rank(3).
func (h *Handle) Rank() (uint32, error) {
	var rank C.uint32_t
	if rc, err := C.flux_get_rank(h.h, &rank); rc < 0 {
		return 0, failed(err)
	}
	return uint32(rank), nil
}

// Size gives the number of brokers. Implements flux_get_size(3).
func (h *Handle) Size() (uint32, error) {
	var size C.uint32_t
	if rc, err := C.flux_get_size(h.h, &size); rc < 0 {
		return 0, failed(err)
	}
	return uint32(size), nil
}

// Attr gives a broker attribute, and whether it is set. Implements
// flux_attr_get(3).
func (h *Handle) Attr(name string) (string, bool) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	value := C.flux_attr_get(h.h, cname)
	if value == nil {
		return "", false
	}
	return C.GoString(value), true
}

// Config gives the configuration that the broker gave this module when it was
// loaded, as JSON. Unlike a request to the config service it waits for nobody,
// which a module that is being loaded must not: that service waits for each
// module when the configuration is reloaded. Implements flux_get_conf(3).
func (h *Handle) Config() (string, error) {
	text, err := C.burrow_conf(h.h)
	if text == nil {
		return "", failed(err)
	}
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text), nil
}

// ModuleName gives the name under which the broker loaded this module, or "".
// Implements flux_aux_get(3) of "flux::name" (RFC 5).
func (h *Handle) ModuleName() string {
	key := C.CString("flux::name")
	defer C.free(unsafe.Pointer(key))
	name := C.flux_aux_get(h.h, key)
	if name == nil {
		return ""
	}
	return C.GoString((*C.char)(name))
}

// OnDestroy has fn called when the handle is closed, for what lives as long
// as the handle. Implements flux_aux_set(3).
func (h *Handle) OnDestroy(key string, fn func()) error {
	ckey := C.CString(key)
	defer C.free(unsafe.Pointer(ckey))
	id := cgo.NewHandle(fn)
	if rc, err := C.burrow_handle_on_destroy(h.h, ckey, C.uintptr_t(id)); rc < 0 {
		id.Delete()
		return failed(err)
	}
	return nil
}

// SetRunning tells the broker that the module is ready, which ends the wait
// of flux-module load(1). Implements flux_module_set_running(3).
func (h *Handle) SetRunning() error {
	if rc, err := C.flux_module_set_running(h.h); rc < 0 {
		return failed(err)
	}
	return nil
}
