// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import "unsafe"

// Flags of RPC (flux_rpc(3)).
const (
	NoResponse = C.FLUX_RPC_NORESPONSE
	Streaming  = C.FLUX_RPC_STREAMING
)

// RPC sends a request with a JSON payload (none for "") to a node. With
// NoResponse the future is to be destroyed at once. Implements flux_rpc(3).
func (h *Handle) RPC(topic, payload string, nodeid uint32, flags int) (*Future, error) {
	ctopic := C.CString(topic)
	defer C.free(unsafe.Pointer(ctopic))
	var s *C.char
	if payload != "" {
		s = C.CString(payload)
		defer C.free(unsafe.Pointer(s))
	}
	f, err := C.flux_rpc(h.h, ctopic, s, C.uint32_t(nodeid), C.int(flags))
	if f == nil {
		return nil, failed(err)
	}
	return &Future{f: f}, nil
}

// Get gives the response's JSON payload, "" where there is none, or the error
// that the service answered. Implements flux_rpc_get(3).
func (f *Future) Get() (string, error) {
	if f.f == nil {
		return "", &Error{Num: Errno(nil, 22)}
	}
	var s *C.char
	if rc, err := C.flux_rpc_get(f.f, &s); rc < 0 {
		return "", f.error(err)
	}
	if s == nil {
		return "", nil
	}
	return C.GoString(s), nil
}

// Matchtag gives the tag that pairs request and responses, for a service's
// cancel method (RFC 6). Implements flux_rpc_get_matchtag(3).
func (f *Future) Matchtag() uint32 { return uint32(C.flux_rpc_get_matchtag(f.f)) }
