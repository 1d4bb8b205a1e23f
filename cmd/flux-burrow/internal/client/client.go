// SPDX-License-Identifier: LGPL-3.0-or-later

// Package client talks to a Flux broker: requests and look-ups, each with a
// limit. It loads libflux-core when it is first needed (flux.h), so that a
// program with it in runs where there is none.
package client

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "flux.h"
import "C"

import (
	"errors"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Client is a connection to a broker. It is not for several goroutines at
// once.
type Client struct {
	h     unsafe.Pointer
	limit time.Duration
}

var loaded = sync.OnceValue(func() error {
	return load(func(path string) error {
		name := C.CString(path)
		defer C.free(unsafe.Pointer(name))
		var text *C.char
		if C.burrow_load(name, &text) == 0 {
			return nil
		}
		return errors.New(take(text))
	})
})

// Open connects to the broker that FLUX_URI names, or to that of the system
// instance. limit bounds this and each later wait; 0 stands for no limit.
func Open(limit time.Duration) (*Client, error) {
	if err := loaded(); err != nil {
		return nil, err
	}
	type result struct {
		h      unsafe.Pointer
		errnum C.int
	}
	// A broker that is stopped takes connections and does not answer, and the
	// library waits for it: this wait is left behind at the limit.
	done := make(chan result, 1)
	go func() {
		var r result
		r.h = C.burrow_open(&r.errnum)
		done <- r
	}()
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case r := <-done:
		if r.h == nil {
			return nil, openError(syscall.Errno(r.errnum))
		}
		return &Client{h: r.h, limit: limit}, nil
	case <-late:
		return nil, &Error{Num: syscall.ETIMEDOUT, What: "the broker", Limit: limit}
	}
}

// Close ends the connection. It may be called twice.
func (c *Client) Close() {
	if c.h != nil {
		C.burrow_close(c.h)
		c.h = nil
	}
}

// Size is the number of ranks of the instance.
func (c *Client) Size() (int, error) {
	var n C.uint32_t
	if errnum := C.burrow_size(c.h, &n); errnum != 0 {
		return 0, &Error{Num: syscall.Errno(errnum), What: "the size of the instance", Limit: c.limit}
	}
	return int(n), nil
}

// Any is the rank of RPC for the nearest broker that has the service.
const Any = ^uint32(0)

// RPC sends a request to a rank and waits for its answer.
func (c *Client) RPC(rank uint32, topic, payload string) (string, error) {
	t, p := C.CString(topic), C.CString(payload)
	defer C.free(unsafe.Pointer(t))
	defer C.free(unsafe.Pointer(p))
	var answer, text *C.char
	errnum := C.burrow_rpc(c.h, t, p, C.uint32_t(rank), c.seconds(), &answer, &text)
	return c.result(topic, errnum, answer, text)
}

// Lookup reads a value of the KVS.
func (c *Client) Lookup(key string) (string, error) {
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	var value, text *C.char
	errnum := C.burrow_lookup(c.h, k, c.seconds(), &value, &text)
	return c.result(key, errnum, value, text)
}

func (c *Client) seconds() C.double {
	if c.limit <= 0 {
		return -1
	}
	return C.double(c.limit.Seconds())
}

func (c *Client) result(what string, errnum C.int, answer, text *C.char) (string, error) {
	a, t := take(answer), take(text)
	if errnum != 0 {
		return "", &Error{Num: syscall.Errno(errnum), Text: t, What: what, Limit: c.limit}
	}
	return a, nil
}

// take makes a Go string of one that C made, and frees that.
func take(s *C.char) string {
	if s == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(s))
	return C.GoString(s)
}
