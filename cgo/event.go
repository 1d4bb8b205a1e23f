// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import "unsafe"

// Subscribe asks the broker for events whose topic begins with topic.
// Implements flux_event_subscribe(3).
func (h *Handle) Subscribe(topic string) error {
	ctopic := C.CString(topic)
	defer C.free(unsafe.Pointer(ctopic))
	if rc, err := C.flux_event_subscribe(h.h, ctopic); rc < 0 {
		return failed(err)
	}
	return nil
}

// Unsubscribe undoes one Subscribe. Implements flux_event_unsubscribe(3).
func (h *Handle) Unsubscribe(topic string) error {
	ctopic := C.CString(topic)
	defer C.free(unsafe.Pointer(ctopic))
	if rc, err := C.flux_event_unsubscribe(h.h, ctopic); rc < 0 {
		return failed(err)
	}
	return nil
}

// HandleEvent has fn called with topic and payload of each event that topic
// (a glob) matches. Implements flux_msg_handler_create(3) and
// flux_event_decode(3).
func (h *Handle) HandleEvent(topic string, fn func(topic, payload string)) (*MsgHandler, error) {
	return h.handle(C.FLUX_MSGTYPE_EVENT, topic, 0, func(r *Request) {
		var ctopic, s *C.char
		if rc, _ := C.flux_event_decode(r.msg, &ctopic, &s); rc < 0 {
			return
		}
		payload := ""
		if s != nil {
			payload = C.GoString(s)
		}
		fn(C.GoString(ctopic), payload)
	})
}
