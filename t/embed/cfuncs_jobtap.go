// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"
)

// attached gives the plugin where the job manager is still behind it.
func attached(p unsafe.Pointer) *Plugin {
	if pl := object[Plugin](p, kindPlugin); pl != nil && !pl.detached {
		return pl
	}
	return nil
}

//export embedGoJobtapFlux
func embedGoJobtapFlux(p unsafe.Pointer, err *C.int) unsafe.Pointer {
	pl := attached(p)
	if pl == nil {
		*err = C.EINVAL
		return nil
	}
	return pl.jm.h.pointer()
}

//export embedGoJobtapService
func embedGoJobtapService(p unsafe.Pointer, method *C.char, rolemask C.uint32_t, cb, arg C.uintptr_t) C.int {
	pl := attached(p)
	// A plugin's own name has to be set before it registers a service.
	if pl == nil || pl.name == "" || strings.Contains(pl.name, "/") {
		return -C.EINVAL
	}
	topic := "job-manager." + strings.TrimPrefix(pl.name, ".")
	if method != nil {
		topic += "." + C.GoString(method)
	}
	h := pl.jm.h
	mh := &msgHandler{h: h, typemask: int(msgRequest), topic: topic,
		cb: uintptr(cb), arg: uintptr(arg), rolemask: 1 | uint32(rolemask), started: true}
	mh.cell = h.in.cells.alloc(kindHandler, mh)
	if h.methods == nil {
		h.methods = map[string][]*msgHandler{}
	}
	h.methods[topic] = append(h.methods[topic], mh)
	pl.aux.add(auxItem{fn: mh.destroy})
	return 0
}

//export embedGoJobtapSubscribe
func embedGoJobtapSubscribe(p unsafe.Pointer, id C.uint64_t, on C.int) C.int {
	pl := attached(p)
	if pl == nil {
		return -C.EINVAL
	}
	j := pl.jm.lookupActive(JobID(id))
	if j == nil {
		return -C.ENOENT
	}
	if on != 0 {
		pl.subscribe(j)
	} else {
		pl.unsubscribe(j)
	}
	return 0
}

//export embedGoJobtapLookup
func embedGoJobtapLookup(p unsafe.Pointer, id C.uint64_t, err *C.int) unsafe.Pointer {
	pl := attached(p)
	if pl == nil {
		*err = C.EINVAL
		return nil
	}
	j := pl.jm.lookup(JobID(id))
	if j == nil {
		*err = C.ENOENT
		return nil
	}
	return newArgs(pl.in, j.args("")).pointer()
}

//export embedGoJobtapRaise
func embedGoJobtapRaise(p unsafe.Pointer, id C.uint64_t, kind *C.char, severity C.int, note *C.char) C.int {
	pl := attached(p)
	if pl == nil {
		return -C.EINVAL
	}
	j := pl.jm.lookupActive(JobID(id))
	if j == nil {
		return -C.ENOENT
	}
	if !pl.jm.raise(j, C.GoString(kind), int(severity), pl.in.opts.Owner, C.GoString(note)) {
		return -C.EROFS
	}
	return 0
}

//export embedGoJobtapPost
func embedGoJobtapPost(p unsafe.Pointer, id C.uint64_t, name, key, value *C.char) C.int {
	pl := attached(p)
	if pl == nil {
		return -C.EINVAL
	}
	j := pl.jm.lookupActive(JobID(id))
	if j == nil {
		return -C.ENOENT
	}
	ctx := "{" + quote(C.GoString(key)) + ":" + quote(C.GoString(value)) + "}"
	if !pl.jm.postEntry(j, &Event{Time: pl.in.Now(), Name: C.GoString(name), Context: ctx}, false) {
		return -C.EROFS
	}
	return 0
}

//export embedGoJobtapPerilog
func embedGoJobtapPerilog(p unsafe.Pointer, id C.uint64_t, prolog, start C.int, description *C.char, status C.int) C.int {
	pl := attached(p)
	if pl == nil || description == nil {
		return -C.EINVAL
	}
	return -C.int(pl.jm.perilog(JobID(id), prolog != 0, start != 0, C.GoString(description), int(status)))
}

// perilog posts one of the four events of holds. A prolog's are refused once
// the start request is out, a prolog can't start in CLEANUP, and an epilog's
// are for CLEANUP only (jobtap.c, jobtap_emit_perilog_event).
func (jm *jobManager) perilog(id JobID, prolog, start bool, description string, status int) syscall.Errno {
	var j *job
	if start {
		if n := len(jm.stack); n > 0 {
			j = jm.stack[n-1]
		}
		if j == nil {
			return syscall.EINVAL
		}
	} else if j = jm.lookupActive(id); j == nil {
		return syscall.ENOENT
	}
	if prolog && j.startPending || prolog && start && j.state == StateCleanup || !prolog && j.state != StateCleanup {
		return syscall.EINVAL
	}
	name, ctx := "epilog-", `{"description":`+quote(description)
	if prolog {
		name = "prolog-"
	}
	if start {
		name, ctx = name+"start", ctx+"}"
	} else {
		name, ctx = name+"finish", fmt.Sprintf(`%s,"status":%d}`, ctx, status)
	}
	if !jm.postEntry(j, &Event{Time: jm.in.Now(), Name: name, Context: ctx}, false) {
		return syscall.EROFS
	}
	return 0
}
