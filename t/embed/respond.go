// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"encoding/json"
	"syscall"
	"unsafe"
)

// respond answers a request from h. A request that wants no response gets
// none, a sender that is gone or out of reach is not told.
func (h *Handle) respond(m *Msg, payload string, has bool) {
	h.send(&Msg{kind: msgResponse, payload: payload, hasPayload: has}, m)
}

func (h *Handle) respondError(m *Msg, num syscall.Errno, text string) {
	h.send(&Msg{kind: msgResponse, errnum: num, payload: text, hasPayload: text != ""}, m)
}

func (h *Handle) send(r, m *Msg) {
	in := h.in
	if m.noresponse || m.done {
		return
	}
	if m.matchtag != 0 && (!m.streaming || r.errnum != 0) {
		m.done = true
		m.track.remove()
		m.has.remove()
	}
	r.in, r.topic, r.matchtag, r.streaming = in, m.topic, m.matchtag, m.streaming
	r.userid, r.rolemask = h.userid, h.rolemask
	to := m.from
	if to.closed || !in.reachable(h.rank) || !in.reachable(to.rank) {
		return
	}
	h.tx[1]++
	in.count(h.rank, to.rank, 1, len(r.payload))
	in.transmit(h, to, r)
}

//export embedGoRespond
func embedGoRespond(p, msg unsafe.Pointer, s *C.char) C.int {
	h, m := object[Handle](p, kindHandle), object[Msg](msg, kindMsg)
	if h == nil || m == nil {
		return -C.EINVAL
	}
	if s == nil {
		h.respond(m, "", false)
	} else {
		h.respond(m, C.GoString(s), true)
	}
	return 0
}

//export embedGoRespondError
func embedGoRespondError(p, msg unsafe.Pointer, errnum C.int, text *C.char) C.int {
	h, m := object[Handle](p, kindHandle), object[Msg](msg, kindMsg)
	if h == nil || m == nil {
		return -C.EINVAL
	}
	num := syscall.Errno(errnum)
	if num == 0 {
		num = syscall.EINVAL
	}
	if text == nil {
		h.respondError(m, num, "")
	} else {
		h.respondError(m, num, C.GoString(text))
	}
	return 0
}

// Request is a request as a service written in Go sees it.
type Request struct {
	*Msg
	in *Instance
}

// Topic gives the request's topic.
func (r *Request) Topic() string { return r.Msg.topic }

// Payload gives the request's JSON payload, "" for none.
func (r *Request) Payload() string { return r.Msg.payload }

// Rank is where the request was handled.
func (r *Request) Rank() int { return r.Msg.to.rank }

// Sender names the handle that sent it, and its rank.
func (r *Request) Sender() (name string, rank int) { return r.Msg.from.name, r.Msg.from.rank }

// Streaming tells whether the sender takes more than one response.
func (r *Request) Streaming() bool { return r.Msg.streaming }

// Respond answers with a payload, none for "".
func (r *Request) Respond(payload string) { r.Msg.to.respond(r.Msg, payload, payload != "") }

// RespondJSON answers with v as JSON.
func (r *Request) RespondJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("embed: " + err.Error())
	}
	r.Respond(string(b))
}

// RespondError answers with an error, and a text if not "".
func (r *Request) RespondError(num syscall.Errno, text string) {
	r.Msg.to.respondError(r.Msg, num, text)
}
