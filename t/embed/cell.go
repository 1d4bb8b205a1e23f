// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Cells are what C sees of this package's objects: see embed.h. They come
// from blocks of C memory that belong to the instance and are freed by its
// Close. A cell given up is marked and comes back into use last of all, so
// that a use after destroy is a panic with the object's kind in it, where
// libflux would read freed memory.

type kind uint32

const (
	kindHandle kind = iota + 1
	kindReactor
	kindWatcher
	kindMsg
	kindHandler
	kindFuture
	kindPlugin
	kindArgs
	kindTxn
)

var kindNames = map[kind]string{
	kindHandle: "flux_t", kindReactor: "flux_reactor_t", kindWatcher: "flux_watcher_t",
	kindMsg: "flux_msg_t", kindHandler: "flux_msg_handler_t", kindFuture: "flux_future_t",
	kindPlugin: "flux_plugin_t", kindArgs: "flux_plugin_arg_t", kindTxn: "flux_kvs_txn_t",
}

const (
	cellLive  = 0xf1e1d001
	cellDead  = 0xdeadf1e1
	cellBlock = 512
	// cellRest is how many dead cells are kept before the oldest is used again.
	cellRest = 4096
)

type cells struct {
	inst   uint32
	blocks []unsafe.Pointer
	next   int // in the last block
	objs   []any
	dead   []unsafe.Pointer // oldest first
	head   int
	live   [kindTxn + 1]int
	// crashed: handles were closed with no word to who has them.
	crashed bool
}

func (t *cells) alloc(k kind, obj any) unsafe.Pointer {
	var p unsafe.Pointer
	if len(t.dead)-t.head > cellRest {
		p = t.dead[t.head]
		t.dead[t.head] = nil
		if t.head++; t.head > cellRest {
			t.dead = append(t.dead[:0], t.dead[t.head:]...)
			t.head = 0
		}
	} else {
		if len(t.blocks) == 0 || t.next == cellBlock {
			t.blocks = append(t.blocks, C.calloc(cellBlock, C.sizeof_struct_embed_cell))
			t.next = 0
		}
		p = unsafe.Add(t.blocks[len(t.blocks)-1], uintptr(t.next)*C.sizeof_struct_embed_cell)
		t.next++
		(*C.struct_embed_cell)(p).slot = C.uint32_t(len(t.objs))
		t.objs = append(t.objs, nil)
	}
	c := (*C.struct_embed_cell)(p)
	c.magic, c.inst, c.kind = cellLive, C.uint32_t(t.inst), C.uint32_t(k)
	t.objs[c.slot] = obj
	t.live[k]++
	return p
}

func (t *cells) release(p unsafe.Pointer) {
	c := (*C.struct_embed_cell)(p)
	c.magic = cellDead
	t.objs[c.slot] = nil
	t.live[c.kind]--
	t.dead = append(t.dead, p)
}

func (t *cells) close() {
	for _, b := range t.blocks {
		if t.crashed {
			// Code that went on without being told, as it can't after a real
			// crash, may know an address still: none is given twice.
			break
		}
		C.free(b)
	}
	*t = cells{inst: t.inst}
}

// Instances by their number. Tests may have several at once, each on a
// goroutine of its own.
var registry struct {
	sync.Mutex
	items atomic.Pointer[[]*Instance]
	free  []uint32
}

func register(in *Instance) {
	registry.Lock()
	defer registry.Unlock()
	var items []*Instance
	if p := registry.items.Load(); p != nil {
		items = append(items, *p...)
	}
	if len(items) == 0 {
		items = append(items, nil)
	}
	if n := len(registry.free); n > 0 {
		in.cells.inst = registry.free[n-1]
		registry.free = registry.free[:n-1]
		items[in.cells.inst] = in
	} else {
		in.cells.inst = uint32(len(items))
		items = append(items, in)
	}
	registry.items.Store(&items)
}

func unregister(in *Instance) {
	registry.Lock()
	defer registry.Unlock()
	items := append([]*Instance(nil), *registry.items.Load()...)
	items[in.cells.inst] = nil
	registry.free = append(registry.free, in.cells.inst)
	registry.items.Store(&items)
}

// object gives the Go object behind p, nil for NULL. Anything but a live
// object of the kind is a panic: libflux would crash or worse.
func object[T any](p unsafe.Pointer, k kind) *T {
	if p == nil {
		return nil
	}
	c := (*C.struct_embed_cell)(p)
	if c.magic != cellLive || kind(c.kind) != k {
		if c.magic == cellDead {
			panic(fmt.Sprintf("embed: %s used after it was destroyed", kindNames[kind(c.kind)]))
		}
		panic(fmt.Sprintf("embed: not a %s", kindNames[k]))
	}
	in := (*registry.items.Load())[c.inst]
	if in == nil {
		panic(fmt.Sprintf("embed: %s used after its instance was closed", kindNames[k]))
	}
	return in.cells.objs[c.slot].(*T)
}

// cstring is a C copy of a string that lives as long as its owner.
func cstring(s string) *C.char { return C.CString(s) }

func cfree(p *C.char) {
	if p != nil {
		C.free(unsafe.Pointer(p))
	}
}
