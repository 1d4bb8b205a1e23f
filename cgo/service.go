// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import "unsafe"

// RegisterService asks the broker to route requests for a further service
// name to this handle. Implements flux_service_register(3).
func (h *Handle) RegisterService(name string) (*Future, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	f, err := C.flux_service_register(h.h, cname)
	if f == nil {
		return nil, failed(err)
	}
	return &Future{f: f}, nil
}

// UnregisterService undoes RegisterService. Implements
// flux_service_unregister(3).
func (h *Handle) UnregisterService(name string) (*Future, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	f, err := C.flux_service_unregister(h.h, cname)
	if f == nil {
		return nil, failed(err)
	}
	return &Future{f: f}, nil
}
