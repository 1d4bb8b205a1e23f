// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"syscall"
	"time"
	"unsafe"
)

//export embedGoRPC
func embedGoRPC(p unsafe.Pointer, topic, s *C.char, nodeid C.uint32_t, flags C.int, err *C.int) unsafe.Pointer {
	h := object[Handle](p, kindHandle)
	if h == nil || topic == nil {
		*err = C.EINVAL
		return nil
	}
	payload := ""
	if s != nil {
		payload = C.GoString(s)
	}
	return h.rpc(C.GoString(topic), payload, s != nil, uint32(nodeid), int(flags)).pointer()
}

// rpc sends a request and gives the future of its response.
func (h *Handle) rpc(topic, payload string, has bool, nodeid uint32, flags int) *Future {
	f := h.newFuture()
	f.isRPC, f.nodeid, f.stream = true, nodeid, flags&2 != 0
	m := &Msg{in: h.in, kind: msgRequest, topic: topic, payload: payload, hasPayload: has,
		nodeid: nodeid, from: h, userid: h.userid, rolemask: h.rolemask,
		noresponse: flags&1 != 0, streaming: flags&2 != 0}
	if nodeid == nodeUpstream {
		m.upstream, m.nodeid, f.nodeid = true, uint32(h.rank), uint32(h.rank)
	}
	if m.noresponse {
		f.cur = &result{}
	} else {
		h.nextTag++
		f.matchtag = h.nextTag
		m.matchtag = f.matchtag
		h.futures[f.matchtag] = f
	}
	h.tx[0]++
	h.arm(m)
	h.in.sendRequest(m)
	return f
}

//export embedGoFutureThen
func embedGoFutureThen(p unsafe.Pointer, timeout C.double, cb, arg C.uintptr_t) C.int {
	f := object[Future](p, kindFuture)
	if f == nil || cb == 0 {
		return -C.EINVAL
	}
	f.cb, f.arg = uintptr(cb), uintptr(arg)
	f.limit = -1
	if timeout >= 0 {
		f.limit = seconds(float64(timeout))
	}
	if f.cur != nil {
		f.ready()
	} else {
		f.setTimeout()
	}
	return 0
}

//export embedGoFutureWait
func embedGoFutureWait(p unsafe.Pointer, timeout C.double) C.int {
	f := object[Future](p, kindFuture)
	if f == nil {
		return -C.EINVAL
	}
	limit := time.Duration(-1)
	if timeout >= 0 {
		limit = seconds(float64(timeout))
	}
	return -C.int(f.wait(limit))
}

//export embedGoFutureReset
func embedGoFutureReset(p unsafe.Pointer) {
	f := object[Future](p, kindFuture)
	if f == nil {
		return
	}
	f.clear()
	f.setTimeout()
	if len(f.queue) > 0 {
		r := f.queue[0]
		f.queue = f.queue[1:]
		f.cur = &r
		f.ready()
	}
}

//export embedGoFutureDestroy
func embedGoFutureDestroy(p unsafe.Pointer) {
	if f := object[Future](p, kindFuture); f != nil {
		f.destroy()
	}
}

// embedGoFutureGet gives the value as a string, NULL for none.
//
//export embedGoFutureGet
func embedGoFutureGet(p unsafe.Pointer, value **C.char) C.int {
	f := object[Future](p, kindFuture)
	if f == nil {
		return -C.EINVAL
	}
	if num := f.wait(-1); num != 0 {
		return -C.int(num)
	}
	if f.cur.errnum != 0 {
		return -C.int(f.cur.errnum)
	}
	if value != nil {
		*value = nil
		if f.cur.has {
			if f.cur.cvalue == nil {
				f.cur.cvalue = f.keep(cstring(f.cur.value))
			}
			*value = f.cur.cvalue
		}
	}
	return 0
}

//export embedGoFutureError
func embedGoFutureError(p unsafe.Pointer) *C.char {
	f := object[Future](p, kindFuture)
	if f == nil || f.cur == nil || f.cur.errnum == 0 {
		return nil
	}
	return f.keep(cstring(f.cur.errorText()))
}

//export embedGoFutureHasError
func embedGoFutureHasError(p unsafe.Pointer) C.int {
	f := object[Future](p, kindFuture)
	if f == nil || f.cur == nil || f.cur.errnum == 0 {
		return 0
	}
	return 1
}

//export embedGoRPCInfo
func embedGoRPCInfo(p unsafe.Pointer, tag, nodeid *C.uint32_t) {
	if f := object[Future](p, kindFuture); f != nil {
		*tag, *nodeid = C.uint32_t(f.matchtag), C.uint32_t(f.nodeid)
	}
}

// Response is a response as code written in Go sees it.
type Response struct {
	Payload string
	Errno   syscall.Errno // 0: success
	Text    string        // of an error
}

// Err gives the response's error, nil for none.
func (r Response) Err() error {
	if r.Errno == 0 {
		return nil
	}
	return &Error{Num: r.Errno, Text: r.Text}
}

// Error is an errno with the text that came with it.
type Error struct {
	Num  syscall.Errno
	Text string
}

func (e *Error) Error() string { return e.Text }

// Unwrap gives the errno.
func (e *Error) Unwrap() error { return e.Num }
