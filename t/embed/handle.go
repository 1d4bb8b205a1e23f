// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"sort"
	"strings"
	"syscall"
	"unsafe"
)

// Handle is a flux_t: one end of the message system on one rank. Modules, the
// job manager, the instance's own services and clients each have one.
type Handle struct {
	in      *Instance
	id      uint32
	rank    int
	name    string
	cell    unsafe.Pointer
	reactor Reactor
	module  *Module
	closed  bool
	crashed bool // it was not closed in order: what it kept is forgiven

	// waiting: it blocks in flux_future_wait_for(3); paused: its process is
	// stopped. stash keeps what came for it meanwhile.
	waiting   int
	paused    bool
	stash     []task
	unstashed bool // a turn of its own takes what is in stash, one by one
	// due are futures whose continuations are to be called.
	due []*Future

	userid, rolemask uint32

	aux      auxList
	cname    *C.char
	cattrs   map[string]*C.char
	cconf    *C.char
	handlers []*msgHandler
	methods  map[string][]*msgHandler
	futures  map[uint32]*Future
	live     map[*Future]struct{}
	watchers map[*Watcher]struct{}
	nextTag  uint32
	subs     []string
	requests link // that it has and did not answer
	used     map[disconnectKey]struct{}

	// serve and event are set for the instance's own parts instead of
	// message handlers.
	serve  func(*Request)
	event  func(topic, payload string)
	answer func(*Msg)      // responses without a matchtag
	first  func(*Msg) bool // requests before the handlers

	rx, tx [4]int // requests, responses, events, control
}

type disconnectKey struct {
	topic    string
	nodeid   uint32
	upstream bool
}

func (in *Instance) newHandle(rank int, name string) *Handle {
	in.nextHandle++
	h := &Handle{in: in, id: in.nextHandle, rank: rank, name: name,
		userid: in.opts.Owner, rolemask: 1,
		futures: map[uint32]*Future{}}
	h.reactor.h = h
	h.requests.init()
	return h
}

func (h *Handle) pointer() unsafe.Pointer {
	if h.cell == nil {
		h.cell = h.in.cells.alloc(kindHandle, h)
	}
	return h.cell
}

// close ends the handle as flux_close(3) and the broker do: its services go,
// its subscriptions, and services that it used are told (disconnect).
func (h *Handle) close(orderly bool) {
	if h.closed {
		return
	}
	if orderly {
		h.aux.destroy()
	}
	h.closed, h.crashed = true, !orderly
	h.in.removeServices(h)
	h.unsubscribeAll()
	h.sendDisconnects()
	for _, t := range h.stash {
		h.in.drop(t)
	}
	h.stash = nil
	h.in.reclaim(h, orderly)
	cfree(h.cname)
	cfree(h.cconf)
	for _, c := range h.cattrs {
		cfree(c)
	}
	if h.reactor.cell != nil {
		h.in.cells.release(h.reactor.cell)
	}
	if h.cell != nil {
		h.in.cells.release(h.cell)
	}
	h.cell, h.reactor.cell = nil, nil
}

// sendDisconnects is what the broker does for a module that ends: each
// service that got a request of its is sent SERVICE.disconnect (RFC 6).
func (h *Handle) sendDisconnects() {
	keys := make([]disconnectKey, 0, len(h.used))
	for k := range h.used {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if keys[i].topic != keys[j].topic {
			return keys[i].topic < keys[j].topic
		}
		return keys[i].nodeid < keys[j].nodeid
	})
	h.used = nil
	for _, k := range keys {
		h.in.sendRequest(&Msg{in: h.in, kind: msgRequest, topic: k.topic, nodeid: k.nodeid,
			upstream: k.upstream, noresponse: true, from: h, userid: h.userid, rolemask: h.rolemask})
	}
}

func (h *Handle) arm(m *Msg) {
	i := strings.LastIndexByte(m.topic, '.')
	if i < 0 {
		return
	}
	if h.used == nil {
		h.used = map[disconnectKey]struct{}{}
	}
	h.used[disconnectKey{m.topic[:i] + ".disconnect", m.nodeid, m.upstream}] = struct{}{}
}

func (h *Handle) unsubscribeAll() {
	if len(h.subs) > 0 {
		h.subs = nil
		h.in.dropSubscriber(h)
	}
}

func (h *Handle) subscribed(topic string) bool {
	for _, s := range h.subs {
		if strings.HasPrefix(topic, s) {
			return true
		}
	}
	return false
}

func (h *Handle) subscribe(topic string) {
	if len(h.subs) == 0 {
		h.in.subscribers = append(h.in.subscribers, h)
	}
	h.subs = append(h.subs, topic)
}

func (h *Handle) unsubscribe(topic string) bool {
	for i, s := range h.subs {
		if s == topic {
			h.subs = append(h.subs[:i], h.subs[i+1:]...)
			if len(h.subs) == 0 {
				h.in.dropSubscriber(h)
			}
			return true
		}
	}
	return false
}

//export embedGoGetReactor
func embedGoGetReactor(p unsafe.Pointer) unsafe.Pointer {
	return object[Handle](p, kindHandle).reactor.pointer()
}

//export embedGoGetRank
func embedGoGetRank(p unsafe.Pointer, rank, size *C.uint32_t) C.int {
	h := object[Handle](p, kindHandle)
	if h == nil {
		return -C.EINVAL
	}
	*rank, *size = C.uint32_t(h.rank), C.uint32_t(len(h.in.brokers))
	return 0
}

// embedGoConf is the configuration that the broker gave to what has the handle:
// that of its load.
//
//export embedGoConf
func embedGoConf(p unsafe.Pointer, err *C.int) *C.char {
	h := object[Handle](p, kindHandle)
	if h == nil {
		*err = C.EINVAL
		return nil
	}
	if h.cconf == nil {
		h.cconf = cstring(h.in.brokers[h.rank].config)
	}
	return h.cconf
}

//export embedGoAttrGet
func embedGoAttrGet(p unsafe.Pointer, name *C.char, err *C.int) *C.char {
	h := object[Handle](p, kindHandle)
	if h == nil || name == nil {
		*err = C.EINVAL
		return nil
	}
	key := C.GoString(name)
	if c := h.cattrs[key]; c != nil {
		return c
	}
	value, ok := h.in.attr(h.rank, key)
	if !ok {
		*err = C.ENOENT
		return nil
	}
	if h.cattrs == nil {
		h.cattrs = map[string]*C.char{}
	}
	h.cattrs[key] = cstring(value)
	return h.cattrs[key]
}

//export embedGoAuxGet
func embedGoAuxGet(p unsafe.Pointer, name *C.char, err *C.int) C.uintptr_t {
	h := object[Handle](p, kindHandle)
	if h == nil || name == nil {
		*err = C.EINVAL
		return 0
	}
	key := C.GoString(name)
	if key == "flux::name" && h.module != nil {
		if h.cname == nil {
			h.cname = cstring(h.module.Name)
		}
		return C.uintptr_t(uintptr(unsafe.Pointer(h.cname)))
	}
	v, ok := h.aux.get(key)
	if !ok {
		*err = C.ENOENT
	}
	return C.uintptr_t(v)
}

//export embedGoAuxSet
func embedGoAuxSet(p unsafe.Pointer, name *C.char, val, destroy C.uintptr_t) C.int {
	h := object[Handle](p, kindHandle)
	if h == nil {
		return -C.EINVAL
	}
	return h.aux.setC(name, val, destroy)
}

//export embedGoLog
func embedGoLog(p unsafe.Pointer, level C.int, text *C.char) {
	if h := object[Handle](p, kindHandle); h != nil {
		h.in.logf(h.rank, h.name, int(level), "%s", C.GoString(text))
	}
}

//export embedGoSubscribe
func embedGoSubscribe(p unsafe.Pointer, topic *C.char, on C.int) C.int {
	h := object[Handle](p, kindHandle)
	if h == nil || topic == nil {
		return -C.EINVAL
	}
	if on != 0 {
		h.subscribe(C.GoString(topic))
	} else if !h.unsubscribe(C.GoString(topic)) {
		return -C.ENOENT
	}
	return 0
}

//export embedGoSetRunning
func embedGoSetRunning(p unsafe.Pointer) C.int {
	h := object[Handle](p, kindHandle)
	if h == nil || h.module == nil {
		return -C.EINVAL
	}
	h.module.running = true
	return 0
}

//export embedGoService
func embedGoService(p unsafe.Pointer, name *C.char, add C.int, err *C.int) unsafe.Pointer {
	h := object[Handle](p, kindHandle)
	if h == nil || name == nil {
		*err = C.EINVAL
		return nil
	}
	f := h.newFuture()
	num, text := h.in.changeService(h, C.GoString(name), add != 0)
	p2 := f.pointer()
	h.in.fulfillLater(h.in.brokers[h.rank].self, f, result{errnum: num, text: text})
	return p2
}

// changeService registers a service name as the broker's service.add and
// service.remove do.
func (in *Instance) changeService(h *Handle, name string, add bool) (syscall.Errno, string) {
	services := in.brokers[h.rank].services
	switch {
	case strings.Contains(name, "."):
		return syscall.EINVAL, ""
	case add && (services[name] != nil || in.builtin(name, h.rank) != nil):
		return syscall.EEXIST, ""
	case add:
		in.brokers[h.rank].addService(name, h)
	case services[name] == nil:
		return syscall.ENOENT, ""
	case services[name] != h:
		return syscall.EINVAL, ""
	default:
		delete(services, name)
	}
	return 0, ""
}
