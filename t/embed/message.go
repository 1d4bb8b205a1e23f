// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"strings"
	"syscall"
	"unsafe"
)

type msgKind uint8

const (
	msgRequest  msgKind = 1
	msgResponse msgKind = 2
	msgEvent    msgKind = 4
)

// Msg is a flux_msg_t (RFC 3). One object goes from sender to receiver: the
// instance copies nothing but what C asks for.
type Msg struct {
	kind       msgKind
	topic      string
	payload    string
	hasPayload bool
	errnum     syscall.Errno // of a response
	nodeid     uint32
	matchtag   uint32
	streaming  bool
	noresponse bool
	upstream   bool
	userid     uint32
	rolemask   uint32

	from *Handle // who sent the request; a response goes there
	to   *Handle // who got it
	// done: the response that ends the exchange was sent. A request without a
	// matchtag, such as sched.alloc, is never done: its answers are paired by
	// their payload, and nobody keeps track of it (librouter/rpc_track.c).
	done bool
	// links of the lists of requests on their way: by the broker they went
	// to, and by the handle that has them.
	track, has link

	in       *Instance
	refs     int
	cell     unsafe.Pointer
	ctopic   *C.char
	cpayload *C.char
}

// link is a place in a list of messages. A list is its sentinel link.
type link struct {
	prev, next *link
	m          *Msg
}

func (l *link) init() { l.prev, l.next = l, l }

func (l *link) push(e *link) {
	e.prev, e.next = l.prev, l
	l.prev.next = e
	l.prev = e
}

func (l *link) remove() {
	if l.next != nil {
		l.prev.next, l.next.prev = l.next, l.prev
		l.prev, l.next = nil, nil
	}
}

func (m *Msg) pointer() unsafe.Pointer {
	if m.cell == nil {
		m.cell = m.in.cells.alloc(kindMsg, m)
	}
	return m.cell
}

func (m *Msg) incref() { m.refs++ }

func (m *Msg) decref() {
	if m.refs--; m.refs > 0 {
		return
	}
	if m.cell != nil {
		m.in.cells.release(m.cell)
		cfree(m.ctopic)
		cfree(m.cpayload)
		m.cell, m.ctopic, m.cpayload = nil, nil, nil
	}
}

func (m *Msg) topicC() *C.char {
	if m.ctopic == nil {
		m.ctopic = cstring(m.topic)
	}
	return m.ctopic
}

func (m *Msg) payloadC() *C.char {
	if m.hasPayload && m.cpayload == nil {
		m.cpayload = cstring(m.payload)
	}
	return m.cpayload
}

// glob matches as fnmatch(3) does, as far as topics of message handlers and
// plugins need it: `*`, `?` and sets.
func glob(pattern, s string) bool {
	for len(pattern) > 0 {
		switch pattern[0] {
		case '*':
			for pattern = strings.TrimLeft(pattern, "*"); ; s = s[1:] {
				if glob(pattern, s) {
					return true
				}
				if s == "" {
					return false
				}
			}
		case '?':
			if s == "" {
				return false
			}
			pattern, s = pattern[1:], s[1:]
		case '[':
			end := strings.IndexByte(pattern, ']')
			if end < 0 || s == "" || !strings.ContainsRune(pattern[1:end], rune(s[0])) {
				return false
			}
			pattern, s = pattern[end+1:], s[1:]
		default:
			if s == "" || s[0] != pattern[0] {
				return false
			}
			pattern, s = pattern[1:], s[1:]
		}
	}
	return s == ""
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

//export embedGoMsgIncref
func embedGoMsgIncref(p unsafe.Pointer) { object[Msg](p, kindMsg).incref() }

//export embedGoMsgDecref
func embedGoMsgDecref(p unsafe.Pointer) {
	if m := object[Msg](p, kindMsg); m != nil {
		m.decref()
	}
}

//export embedGoMsgTopic
func embedGoMsgTopic(p unsafe.Pointer, topic **C.char) C.int {
	m := object[Msg](p, kindMsg)
	if m == nil {
		return -C.EINVAL
	}
	*topic = m.topicC()
	return 0
}

//export embedGoMsgCred
func embedGoMsgCred(p unsafe.Pointer, userid, rolemask *C.uint32_t) C.int {
	m := object[Msg](p, kindMsg)
	if m == nil {
		return -C.EINVAL
	}
	*userid, *rolemask = C.uint32_t(m.userid), C.uint32_t(m.rolemask)
	return 0
}

//export embedGoMsgFlags
func embedGoMsgFlags(p unsafe.Pointer) C.int {
	m := object[Msg](p, kindMsg)
	flags := 0
	if m != nil && m.streaming {
		flags |= 1
	}
	if m != nil && m.noresponse {
		flags |= 2
	}
	return C.int(flags)
}

//export embedGoMsgDecode
func embedGoMsgDecode(p unsafe.Pointer, want C.int, topic, s **C.char) C.int {
	m := object[Msg](p, kindMsg)
	if m == nil {
		return -C.EINVAL
	}
	if m.kind != msgKind(want) {
		return -C.EPROTO
	}
	if topic != nil {
		*topic = m.topicC()
	}
	if s != nil {
		*s = m.payloadC()
	}
	return 0
}

// embedGoMsgMatch is flux_disconnect_match and flux_cancel_match: the same
// sender, and for a cancel the matchtag that its payload names (RFC 6).
//
//export embedGoMsgMatch
func embedGoMsgMatch(p1, p2 unsafe.Pointer, cancel C.int) C.int {
	m1, m2 := object[Msg](p1, kindMsg), object[Msg](p2, kindMsg)
	if m1 == nil || m2 == nil || m1.from != m2.from || m1.userid != m2.userid {
		return 0
	}
	if cancel != 0 {
		tag := jsonGet(m1.payload, "matchtag")
		if !tag.Exists() || uint32(tag.Uint()) != m2.matchtag {
			return 0
		}
	}
	return 1
}
