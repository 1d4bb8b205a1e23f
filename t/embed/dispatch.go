// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"syscall"
	"unsafe"
)

// msgHandler is a flux_msg_handler_t.
type msgHandler struct {
	h        *Handle
	cell     unsafe.Pointer
	typemask int
	matchtag uint32
	topic    string
	cb, arg  uintptr
	rolemask uint32
	started  bool
}

func (mh *msgHandler) call(m *Msg) {
	if m.rolemask&mh.rolemask == 0 {
		if m.kind == msgRequest && !m.noresponse {
			// The texts are libflux's (msg_handler.c).
			text := "Request requires owner credentials"
			if mh.rolemask != 1 {
				text = "Request rejected due to insufficient privilege"
			}
			mh.h.respondError(m, syscall.EPERM, text)
		}
		return
	}
	C.embed_call_message(C.uintptr_t(mh.cb), mh.h.pointer(), mh.cell, m.pointer(), C.uintptr_t(mh.arg))
}

// deliver gives a message that has arrived to its receiver: a response to the
// future with its matchtag, a request to the newest handler of its method,
// else to the newest handler that matches, an event to all that match.
// [read: libflux/msg_handler.c]
func (in *Instance) deliver(h *Handle, m *Msg) {
	m.incref()
	defer m.decref()
	switch m.kind {
	case msgResponse:
		h.rx[1]++
		if f := h.futures[m.matchtag]; f != nil && m.matchtag != 0 {
			f.response(m)
			return
		}
		if h.answer != nil && m.matchtag == 0 {
			h.answer(m)
			return
		}
	case msgRequest:
		h.rx[0]++
		m.to = h
		if !m.noresponse && !m.done && m.matchtag != 0 {
			h.requests.push(&m.has)
			m.has.m = m
		}
		if h.serve != nil {
			h.serve(&Request{in: in, Msg: m})
			return
		}
		if h.first != nil && h.first(m) {
			return
		}
		if ms := h.methods[m.topic]; len(ms) > 0 {
			for i := len(ms) - 1; i >= 0; i-- {
				if ms[i].started {
					ms[i].call(m)
					return
				}
			}
		}
	case msgEvent:
		h.rx[2]++
		if h.event != nil {
			h.event(m.topic, m.payload)
			return
		}
	}
	matched := false
	list := append([]*msgHandler(nil), h.handlers...)
	for i := len(list) - 1; i >= 0; i-- {
		mh := list[i]
		if mh.cell == nil || !mh.started || mh.typemask&int(m.kind) == 0 {
			continue
		}
		if mh.topic != "" && !glob(mh.topic, m.topic) {
			continue
		}
		matched = true
		mh.call(m)
		if m.kind != msgEvent {
			return
		}
	}
	if !matched && m.kind == msgRequest && !h.defaultMethod(m) {
		h.respondError(m, syscall.ENOSYS, "Unknown service method '"+m.topic+"'")
	}
}

//export embedGoHandlerCreate
func embedGoHandlerCreate(p unsafe.Pointer, typemask C.int, matchtag C.uint32_t, topic *C.char, cb, arg C.uintptr_t, err *C.int) unsafe.Pointer {
	h := object[Handle](p, kindHandle)
	if h == nil || cb == 0 {
		*err = C.EINVAL
		return nil
	}
	mh := &msgHandler{h: h, typemask: int(typemask), matchtag: uint32(matchtag),
		cb: uintptr(cb), arg: uintptr(arg), rolemask: 1}
	if topic != nil {
		mh.topic = C.GoString(topic)
	}
	mh.cell = h.in.cells.alloc(kindHandler, mh)
	if mh.method() {
		if h.methods == nil {
			h.methods = map[string][]*msgHandler{}
		}
		h.methods[mh.topic] = append(h.methods[mh.topic], mh)
	} else {
		h.handlers = append(h.handlers, mh)
	}
	return mh.cell
}

// method: a handler of one request topic is found by that topic.
func (mh *msgHandler) method() bool {
	return mh.typemask == int(msgRequest) && mh.topic != "" && !isGlob(mh.topic)
}

func (mh *msgHandler) destroy() {
	if mh.cell == nil {
		return
	}
	h := mh.h
	list := h.handlers
	if mh.method() {
		list = h.methods[mh.topic]
	}
	for i, o := range list {
		if o == mh {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if mh.method() {
		h.methods[mh.topic] = list
	} else {
		h.handlers = list
	}
	h.in.cells.release(mh.cell)
	mh.cell = nil
}

//export embedGoHandlerDestroy
func embedGoHandlerDestroy(p unsafe.Pointer) {
	if mh := object[msgHandler](p, kindHandler); mh != nil {
		mh.destroy()
	}
}

//export embedGoHandlerStart
func embedGoHandlerStart(p unsafe.Pointer) {
	if mh := object[msgHandler](p, kindHandler); mh != nil {
		mh.started = true
	}
}

//export embedGoHandlerAllow
func embedGoHandlerAllow(p unsafe.Pointer, mask C.uint32_t) {
	if mh := object[msgHandler](p, kindHandler); mh != nil {
		mh.rolemask |= uint32(mask)
	}
}
