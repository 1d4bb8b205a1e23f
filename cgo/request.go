// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"strings"
	"syscall"
	"unsafe"
)

// Roles of a message's sender (RFC 12).
const (
	RoleOwner uint32 = C.FLUX_ROLE_OWNER
	RoleUser  uint32 = C.FLUX_ROLE_USER
)

// Request is a request message. The one given to a handler is valid until the
// handler returns; Keep makes one that lives until its Release.
type Request struct {
	h    *Handle
	msg  *C.flux_msg_t
	kept bool
}

// Keep takes a reference, for an answer to be given later. Implements
// flux_msg_incref(3).
func (r *Request) Keep() *Request {
	C.flux_msg_incref(r.msg)
	return &Request{h: r.h, msg: r.msg, kept: true}
}

// Release drops the reference of Keep. Implements flux_msg_decref(3).
func (r *Request) Release() {
	if r.kept {
		C.flux_msg_decref(r.msg)
		r.kept = false
	}
}

// Topic gives the request's topic string. Implements flux_msg_get_topic(3).
func (r *Request) Topic() string {
	var topic *C.char
	if rc, _ := C.flux_msg_get_topic(r.msg, &topic); rc < 0 {
		return ""
	}
	return C.GoString(topic)
}

// Payload gives the JSON payload, "" where there is none. Implements
// flux_request_decode(3).
func (r *Request) Payload() (string, error) {
	var s *C.char
	if rc, err := C.flux_request_decode(r.msg, nil, &s); rc < 0 {
		return "", failed(err)
	}
	if s == nil {
		return "", nil
	}
	return C.GoString(s), nil
}

// Sender gives the user id and the roles of the sender (RFC 12). Implements
// flux_msg_get_cred(3).
func (r *Request) Sender() (userid, rolemask uint32, err error) {
	var cred C.struct_flux_msg_cred
	if rc, err := C.flux_msg_get_cred(r.msg, &cred); rc < 0 {
		return 0, 0, failed(err)
	}
	return uint32(cred.userid), uint32(cred.rolemask), nil
}

// Streaming tells whether the sender takes more than one response.
// Implements flux_msg_is_streaming(3).
func (r *Request) Streaming() bool { return bool(C.flux_msg_is_streaming(r.msg)) }

// NoResponse tells whether the sender wants no response. Implements
// flux_msg_is_noresponse(3).
func (r *Request) NoResponse() bool { return bool(C.flux_msg_is_noresponse(r.msg)) }

// Cancels tells whether this cancel request is of the sender of other, and
// names its matchtag. Implements flux_cancel_match(3).
func (r *Request) Cancels(other *Request) bool {
	return bool(C.flux_cancel_match(r.msg, other.msg))
}

// Disconnects tells whether this disconnect request is of the sender of
// other. Implements flux_disconnect_match(3).
func (r *Request) Disconnects(other *Request) bool {
	return bool(C.flux_disconnect_match(r.msg, other.msg))
}

// Respond answers with a JSON payload, or none for "". Implements
// flux_respond(3).
func (r *Request) Respond(payload string) error {
	var s *C.char
	if payload != "" {
		s = C.CString(payload)
		defer C.free(unsafe.Pointer(s))
	}
	if rc, err := C.flux_respond(r.h.h, r.msg, s); rc < 0 {
		return failed(err)
	}
	return nil
}

// RespondError answers with the errno that err carries (EINVAL if none) and
// its text. Implements flux_respond_error(3).
func (r *Request) RespondError(err error) error {
	num := Errno(err, syscall.EINVAL)
	var s *C.char
	if text := err.Error(); text != num.Error() {
		s = C.CString(strings.ReplaceAll(text, "\x00", `\0`))
		defer C.free(unsafe.Pointer(s))
	}
	if rc, cerr := C.flux_respond_error(r.h.h, r.msg, C.int(num), s); rc < 0 {
		return failed(cerr)
	}
	return nil
}

// MsgHandler calls a function for each message of one topic.
type MsgHandler struct {
	mh *C.flux_msg_handler_t
	id cgo.Handle
}

// HandleRequest has fn called for each request with topic. Senders need one
// of the roles in rolemask besides the owner; others get EPERM from libflux.
// Implements flux_msg_handler_create(3).
func (h *Handle) HandleRequest(topic string, rolemask uint32, fn func(*Request)) (*MsgHandler, error) {
	return h.handle(C.FLUX_MSGTYPE_REQUEST, topic, rolemask, fn)
}

func (h *Handle) handle(typemask C.int, topic string, rolemask uint32, fn func(*Request)) (*MsgHandler, error) {
	ctopic := C.CString(topic)
	defer C.free(unsafe.Pointer(ctopic))
	m := &MsgHandler{id: cgo.NewHandle(fn)}
	mh, err := C.burrow_msg_handler_create(h.h, typemask, ctopic, C.uintptr_t(m.id))
	if mh == nil {
		m.id.Delete()
		return nil, failed(err)
	}
	m.mh = mh
	if rolemask != 0 {
		C.flux_msg_handler_allow_rolemask(mh, C.uint32_t(rolemask))
	}
	C.flux_msg_handler_start(mh)
	return m, nil
}

// Destroy stops the handler. Implements flux_msg_handler_destroy(3).
func (m *MsgHandler) Destroy() {
	if m == nil || m.mh == nil {
		return
	}
	C.flux_msg_handler_destroy(m.mh)
	m.id.Delete()
	m.mh = nil
}
