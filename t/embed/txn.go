// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// A transaction is made without a handle, so which instance it is for shows
// only at its commit. Its C memory holds a runtime/cgo handle.

var liveTxns atomic.Int64

func newTxn(t *Txn) unsafe.Pointer {
	p := C.malloc(C.size_t(unsafe.Sizeof(uintptr(0))))
	*(*uintptr)(p) = uintptr(cgo.NewHandle(t))
	liveTxns.Add(1)
	return p
}

func txnObject(p unsafe.Pointer) *Txn {
	if p == nil {
		return nil
	}
	return cgo.Handle(*(*uintptr)(p)).Value().(*Txn)
}

func freeTxn(p unsafe.Pointer) {
	cgo.Handle(*(*uintptr)(p)).Delete()
	C.free(p)
	liveTxns.Add(-1)
}
