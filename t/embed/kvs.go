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

// kvs is the primary namespace: keys and values, changed by whole commits.
type kvs struct {
	data    map[string]string
	h       *Handle
	commits int
	lookups int
	sent    []*commit
	// faults: a key whose look-up fails, for tests.
	faults map[string]syscall.Errno
}

type txnOp struct {
	key, value string
	appendTo   bool
	unlink     bool
}

// Txn is a flux_kvs_txn_t. It belongs to no handle, so its cell is of no
// instance.
type Txn struct{ ops []txnOp }

const kvsAppend = 32 // FLUX_KVS_APPEND

func (k *kvs) apply(ops []txnOp) {
	k.commits++
	for _, op := range ops {
		switch {
		case op.unlink:
			delete(k.data, op.key)
			for key := range k.data {
				if strings.HasPrefix(key, op.key+".") {
					delete(k.data, key)
				}
			}
		case op.appendTo:
			k.data[op.key] += op.value
		default:
			k.data[op.key] = op.value
		}
	}
}

func (k *kvs) lookup(key string) result {
	k.lookups++
	if num := k.faults[key]; num != 0 {
		return result{errnum: num}
	}
	if v, ok := k.data[key]; ok {
		return result{value: v, has: v != ""}
	}
	for other := range k.data {
		if strings.HasPrefix(other, key+".") {
			return result{errnum: syscall.EISDIR}
		}
	}
	return result{errnum: syscall.ENOENT}
}

// KVSGet gives a key's value.
func (in *Instance) KVSGet(key string) (string, bool) {
	v, ok := in.kvs.data[key]
	return v, ok
}

// KVSPut sets a key at once.
func (in *Instance) KVSPut(key, value string) { in.kvs.data[key] = value }

// KVSDelete removes a key at once.
func (in *Instance) KVSDelete(key string) { delete(in.kvs.data, key) }

// KVSFault makes each look-up of a key fail; 0 undoes it.
func (in *Instance) KVSFault(key string, num syscall.Errno) {
	if in.kvs.faults == nil {
		in.kvs.faults = map[string]syscall.Errno{}
	}
	in.kvs.faults[key] = num
}

// KVSKeys gives all keys below a prefix, sorted.
func (in *Instance) KVSKeys(prefix string) []string {
	var keys []string
	for k := range in.kvs.data {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	return keys
}

// commit applies ops in a turn of the kvs module, and calls done in a later
// turn of h's reactor.
func (in *Instance) commit(h *Handle, ops []txnOp, done func()) {
	k, c := in.kvs.h, &commit{ops: ops}
	in.kvs.sent = append(in.kvs.sent, c)
	in.post(h.id, k.id, task{owner: k, fn: func() {
		if c.over {
			return
		}
		in.kvs.finish(c)
		in.post(k.id, h.id, task{owner: h, fn: done})
	}})
}

// commit is one of the job manager on its way.
type commit struct {
	ops  []txnOp
	over bool
}

func (k *kvs) finish(c *commit) {
	c.over = true
	k.apply(c.ops)
	for i, o := range k.sent {
		if o == c {
			k.sent = append(k.sent[:i:i], k.sent[i+1:]...)
			return
		}
	}
}

// settle ends the commits that are on their way: a job manager that ends in
// order waits for them (event.c, event_ctx_destroy); those of one that
// crashes with its broker are lost.
func (k *kvs) settle(orderly bool) {
	for _, c := range append([]*commit(nil), k.sent...) {
		if !orderly {
			c.ops = nil
		}
		k.finish(c)
	}
}

//export embedGoKVSLookup
func embedGoKVSLookup(p unsafe.Pointer, ns *C.char, flags C.int, key *C.char, err *C.int) unsafe.Pointer {
	h := object[Handle](p, kindHandle)
	if h == nil || key == nil {
		*err = C.EINVAL
		return nil
	}
	if ns != nil || flags != 0 {
		*err = C.ENOTSUP
		return nil
	}
	in, name := h.in, C.GoString(key)
	f := h.newFuture()
	k := in.kvs.h
	in.countBoth(h.rank, 0)
	in.post(h.id, k.id, task{owner: k, fn: func() {
		r := in.kvs.lookup(name)
		in.fulfillLater(k, f, r)
	}})
	return f.pointer()
}

// fulfillLater brings a result to a future of another handle as a response
// would: in the order of messages, and to a handle that blocks for it.
func (in *Instance) fulfillLater(from *Handle, f *Future, r result) {
	h := f.h
	if f.cell == nil || h.closed {
		return
	}
	h.nextTag++
	tag := h.nextTag
	h.futures[tag] = f
	f.matchtag = tag
	m := &Msg{in: in, kind: msgResponse, matchtag: tag, errnum: r.errnum, payload: r.value, hasPayload: r.has}
	if r.errnum != 0 {
		m.payload = r.text
	}
	in.post(from.id, h.id, task{owner: h, msg: m})
}

//export embedGoKVSCommit
func embedGoKVSCommit(p unsafe.Pointer, ns *C.char, flags C.int, txn unsafe.Pointer, err *C.int) unsafe.Pointer {
	h, t := object[Handle](p, kindHandle), txnObject(txn)
	if h == nil || t == nil {
		*err = C.EINVAL
		return nil
	}
	if ns != nil || flags != 0 {
		*err = C.ENOTSUP
		return nil
	}
	in := h.in
	ops := append([]txnOp(nil), t.ops...)
	f := h.newFuture()
	k := in.kvs.h
	in.countBoth(h.rank, 0)
	in.post(h.id, k.id, task{owner: k, fn: func() {
		in.kvs.apply(ops)
		in.fulfillLater(k, f, result{})
	}})
	return f.pointer()
}

//export embedGoTxnCreate
func embedGoTxnCreate() unsafe.Pointer { return newTxn(&Txn{}) }

//export embedGoTxnDestroy
func embedGoTxnDestroy(p unsafe.Pointer) {
	if p != nil {
		freeTxn(p)
	}
}

//export embedGoTxnPut
func embedGoTxnPut(p unsafe.Pointer, flags C.int, key, value *C.char, unlink C.int) C.int {
	t := txnObject(p)
	if t == nil || key == nil || *key == 0 {
		return -C.EINVAL
	}
	op := txnOp{key: C.GoString(key), unlink: unlink != 0, appendTo: flags&kvsAppend != 0}
	if value != nil {
		op.value = C.GoString(value)
	}
	t.ops = append(t.ops, op)
	return 0
}
