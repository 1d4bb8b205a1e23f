// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"strings"
	"syscall"
)

// Client is a handle of a test: a program that is connected to a broker.
type Client struct{ h *Handle }

// Client connects to a rank as the instance's owner.
func (in *Instance) Client(rank int) *Client { return &Client{in.newHandle(rank, "client")} }

// Guest connects to a rank as another user.
func (in *Instance) Guest(rank int, userid uint32) *Client {
	c := in.Client(rank)
	c.h.userid, c.h.rolemask = userid, 2
	return c
}

// Flags of Client.Request, of flux_rpc(3).
const (
	NoResponse = 1
	Streaming  = 2
	NodeAny    = nodeAny
)

// Request sends a request; cb is called with each response, for a stream until
// one with an error. It gives the matchtag.
func (c *Client) Request(nodeid uint32, topic, payload string, flags int, cb func(Response)) uint32 {
	if cb == nil {
		flags |= NoResponse
	}
	f := c.h.rpc(topic, payload, payload != "", nodeid, flags)
	f.goCB = func(r Response) {
		if r.Errno != 0 || flags&Streaming == 0 {
			f.destroy()
		}
		cb(r)
	}
	if cb == nil {
		f.destroy()
	}
	return f.matchtag
}

// Call sends a request and turns the loop until it is answered. Where nothing
// is left to do and no answer came it gives EDEADLK.
func (c *Client) Call(nodeid uint32, topic, payload string) (string, error) {
	var got *Response
	c.Request(nodeid, topic, payload, 0, func(r Response) { got = &r })
	for got == nil && c.h.in.step(-1) {
	}
	if got == nil {
		return "", &Error{Num: syscall.EDEADLK, Text: topic + " was never answered"}
	}
	return got.Payload, got.Err()
}

// Close disconnects.
func (c *Client) Close() { c.h.close(true) }

// client is the instance's own on a rank, for Call and the rest.
func (in *Instance) client(rank int) *Client {
	if in.clients == nil {
		in.clients = map[int]*Client{}
	}
	c := in.clients[rank]
	if c == nil || c.h.closed {
		c = in.Client(rank)
		in.clients[rank] = c
	}
	return c
}

// Call sends a request from a rank; cb is called with the response.
func (in *Instance) Call(from int, nodeid uint32, topic, payload string, cb func(Response)) {
	in.client(from).Request(nodeid, topic, payload, 0, cb)
}

// RPC sends a request from a rank and turns the loop until it is answered.
func (in *Instance) RPC(from int, nodeid uint32, topic, payload string) (string, error) {
	return in.client(from).Call(nodeid, topic, payload)
}

// Service adds a service of the test's own on rank 0: fn gets every request
// whose topic has the first word name.
func (in *Instance) Service(name string, fn func(*Request)) { in.ServiceAt(0, name, fn) }

// ServiceAt is Service on another rank.
func (in *Instance) ServiceAt(rank int, name string, fn func(*Request)) {
	name, _, _ = strings.Cut(name, ".")
	h := in.newHandle(rank, name)
	h.serve = fn
	in.brokers[rank].addService(name, h)
}

// RemoveService ends a service of Service or ServiceAt, or one of the
// instance's own on that rank until it is used again.
func (in *Instance) RemoveService(rank int, name string) {
	if h := in.brokers[rank].services[name]; h != nil {
		h.close(true)
	}
}
