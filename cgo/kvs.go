// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import "unsafe"

// Lookup asks the primary namespace for a key's value; its future is read
// with Value. Implements flux_kvs_lookup(3).
func (h *Handle) Lookup(key string) (*Future, error) {
	ckey := C.CString(key)
	defer C.free(unsafe.Pointer(ckey))
	f, err := C.flux_kvs_lookup(h.h, nil, 0, ckey)
	if f == nil {
		return nil, failed(err)
	}
	return &Future{f: f}, nil
}

// Value gives the result of Lookup. ENOENT: there is no such key. Implements
// flux_kvs_lookup_get(3).
func (f *Future) Value() (string, error) {
	var s *C.char
	if rc, err := C.flux_kvs_lookup_get(f.f, &s); rc < 0 {
		return "", f.error(err)
	}
	if s == nil {
		return "", nil
	}
	return C.GoString(s), nil
}

// JobKey gives the KVS key of a job's datum, such as "R" or "eventlog".
// Implements flux_job_kvs_key(3).
func JobKey(id uint64, name string) (string, error) {
	var buf [128]C.char
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	if rc, err := C.flux_job_kvs_key(&buf[0], C.int(len(buf)), C.flux_jobid_t(id), cname); rc < 0 {
		return "", failed(err)
	}
	return C.GoString(&buf[0]), nil
}

// Txn is a list of changes that Commit makes as one (flux_kvs_txn_create(3)).
type Txn struct {
	txn *C.flux_kvs_txn_t
}

// NewTxn makes an empty transaction.
func NewTxn() (*Txn, error) {
	txn, err := C.flux_kvs_txn_create()
	if txn == nil {
		return nil, failed(err)
	}
	return &Txn{txn: txn}, nil
}

// Put sets a key. Implements flux_kvs_txn_put(3).
func (t *Txn) Put(key, value string) error {
	ckey, cvalue := C.CString(key), C.CString(value)
	defer C.free(unsafe.Pointer(ckey))
	defer C.free(unsafe.Pointer(cvalue))
	if rc, err := C.flux_kvs_txn_put(t.txn, 0, ckey, cvalue); rc < 0 {
		return failed(err)
	}
	return nil
}

// Unlink removes a key. Implements flux_kvs_txn_unlink(3).
func (t *Txn) Unlink(key string) error {
	ckey := C.CString(key)
	defer C.free(unsafe.Pointer(ckey))
	if rc, err := C.flux_kvs_txn_unlink(t.txn, 0, ckey); rc < 0 {
		return failed(err)
	}
	return nil
}

// Destroy drops the transaction. Implements flux_kvs_txn_destroy(3).
func (t *Txn) Destroy() {
	if t == nil || t.txn == nil {
		return
	}
	C.flux_kvs_txn_destroy(t.txn)
	t.txn = nil
}

// Commit makes the changes of t; the future is done when they are. t stays
// its owner's. Implements flux_kvs_commit(3).
func (h *Handle) Commit(t *Txn) (*Future, error) {
	f, err := C.flux_kvs_commit(h.h, nil, 0, t.txn)
	if f == nil {
		return nil, failed(err)
	}
	return &Future{f: f}, nil
}

// Done gives the error of a future without a value, such as Commit's.
// Implements flux_future_get(3).
func (f *Future) Done() error {
	if rc, err := C.flux_future_get(f.f, nil); rc < 0 {
		return f.error(err)
	}
	return nil
}
