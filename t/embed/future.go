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

// Future is a flux_future_t: of an RPC, or of something else that is fulfilled
// once. Results beyond the first wait for flux_future_reset(3).
type Future struct {
	h    *Handle
	cell unsafe.Pointer

	matchtag uint32
	nodeid   uint32
	isRPC    bool
	stream   bool

	cur   *result
	queue []result

	cb, arg  uintptr
	goCB     func(Response)
	limit    time.Duration // of Then, -1 for none
	timer    timer
	posted   bool
	cstrings []*C.char
}

type result struct {
	value  string
	has    bool
	errnum syscall.Errno
	text   string
	cvalue *C.char
}

func (h *Handle) newFuture() *Future {
	f := &Future{h: h, limit: -1}
	f.timer = timer{index: -1, t: task{owner: h, fn: f.expired}}
	if h.live == nil {
		h.live = map[*Future]struct{}{}
	}
	h.live[f] = struct{}{}
	return f
}

func (f *Future) pointer() unsafe.Pointer {
	if f.cell == nil {
		f.cell = f.h.in.cells.alloc(kindFuture, f)
	}
	return f.cell
}

// response takes a response message of the RPC.
func (f *Future) response(m *Msg) {
	if m.errnum != 0 || !f.stream {
		delete(f.h.futures, f.matchtag)
	}
	if m.errnum != 0 {
		f.fulfill(result{errnum: m.errnum, text: m.payload})
	} else {
		f.fulfill(result{value: m.payload, has: m.hasPayload})
	}
}

func (f *Future) fulfill(r result) {
	if f.goCB != nil {
		f.goCB(Response{Payload: r.value, Errno: r.errnum, Text: r.errorText()})
		return
	}
	if f.cell == nil {
		return // destroyed meanwhile
	}
	if f.cur != nil {
		f.queue = append(f.queue, r)
		return
	}
	f.cur = &r
	f.ready()
}

// ready has the continuation called in a turn of its own, as the check and idle
// watchers of libflux do, and before the handle's next message: of check
// watchers libev calls the one first that was started last (future.c,
// watcher_handle.c).
func (f *Future) ready() {
	f.h.in.disarm(&f.timer)
	if f.cb != 0 && !f.posted {
		f.posted = true
		f.h.due = append(f.h.due, f)
		f.h.in.post(f.h.id, f.h.id, task{owner: f.h, fut: f})
	}
}

// callDue calls the continuations that are to come before the next message.
func (h *Handle) callDue() {
	for len(h.due) > 0 && !h.closed {
		h.due[len(h.due)-1].continuation()
	}
}

func (f *Future) continuation() {
	if !f.posted {
		return // it was called before a message
	}
	f.posted = false
	for i, o := range f.h.due {
		if o == f {
			f.h.due = append(f.h.due[:i:i], f.h.due[i+1:]...)
			break
		}
	}
	if f.cell == nil || f.cur == nil || f.cb == 0 {
		return
	}
	C.embed_call_future(C.uintptr_t(f.cb), f.cell, C.uintptr_t(f.arg))
}

func (f *Future) expired() {
	if f.cell != nil && f.cur == nil {
		f.fulfill(result{errnum: syscall.ETIMEDOUT})
	}
}

func (f *Future) setTimeout() {
	f.h.in.disarm(&f.timer)
	if f.limit >= 0 && f.cur == nil {
		f.h.in.arm(&f.timer, f.limit)
	}
}

func (r *result) errorText() string {
	if r.errnum == 0 {
		return ""
	}
	if r.text != "" {
		return r.text
	}
	return strerror(r.errnum)
}

func (f *Future) keep(c *C.char) *C.char {
	f.cstrings = append(f.cstrings, c)
	return c
}

func (f *Future) clear() {
	for _, c := range f.cstrings {
		cfree(c)
	}
	f.cstrings = nil
	f.cur = nil
}

func (f *Future) destroy() {
	if f.cell == nil && f.goCB == nil {
		return
	}
	f.h.in.disarm(&f.timer)
	// A matchtag whose answer is still to come stays in use until it does; the
	// answer then finds nobody.
	if f.matchtag != 0 && f.h.futures[f.matchtag] == f {
		delete(f.h.futures, f.matchtag)
	}
	f.clear()
	f.queue = nil
	delete(f.h.live, f)
	if f.cell != nil {
		f.h.in.cells.release(f.cell)
		f.cell = nil
	}
	f.goCB = nil
}

// wait blocks for the result: the loop turns, but of what is meant for the
// handle it takes responses only.
func (f *Future) wait(limit time.Duration) syscall.Errno {
	if f.cur != nil {
		return 0
	}
	if limit == 0 {
		return syscall.ETIMEDOUT
	}
	in, h := f.h.in, f.h
	timeout := false
	var t timer
	if limit > 0 {
		t = timer{index: -1, t: task{fn: func() { timeout = true }}}
		in.arm(&t, limit)
	}
	h.waiting++
	for f.cur == nil && !timeout && in.step(-1) {
	}
	h.waiting--
	in.disarm(&t)
	h.unstash()
	switch {
	case f.cur != nil:
		return 0
	case timeout:
		return syscall.ETIMEDOUT
	default:
		// On a real Flux it would hang here for ever.
		return syscall.EDEADLK
	}
}

// unstash has what was held back taken, in its order and before what is newer.
func (h *Handle) unstash() {
	if len(h.stash) > 0 && !h.holds() && !h.unstashed {
		h.unstashed = true
		h.in.post(h.id, h.id, task{owner: h, stashed: true})
	}
}

func (h *Handle) holds() bool { return h.waiting > 0 || h.paused }

func strerror(num syscall.Errno) string { return C.GoString(C.strerror(C.int(num))) }
