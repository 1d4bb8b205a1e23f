// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

// auxList holds what callers hang on a handle or a plugin, with destructors.
// The order of destruction is the real one: what has a key goes before what
// has none, the newest of the former first, the oldest of the latter first.
// [read: libutil/aux.c]
type auxList struct {
	items []auxItem
}

type auxItem struct {
	key     string
	keyed   bool
	val     uintptr
	destroy uintptr
	fn      func()
}

func (a *auxList) get(key string) (uintptr, bool) {
	for _, it := range a.items {
		if it.keyed && it.key == key {
			return it.val, true
		}
	}
	return 0, false
}

func (a *auxList) remove(key string) {
	for i, it := range a.items {
		if it.keyed && it.key == key {
			a.items = append(a.items[:i:i], a.items[i+1:]...)
			it.end()
			return
		}
	}
}

func (a *auxList) add(it auxItem) {
	if it.keyed {
		a.items = append([]auxItem{it}, a.items...)
	} else {
		a.items = append(a.items, it)
	}
}

func (a *auxList) setC(name *C.char, val, destroy C.uintptr_t) C.int {
	if name == nil && val == 0 || val == 0 && destroy != 0 || name == nil && destroy == 0 {
		return -C.EINVAL
	}
	it := auxItem{val: uintptr(val), destroy: uintptr(destroy)}
	if name != nil {
		it.key, it.keyed = C.GoString(name), true
		a.remove(it.key)
	}
	if val != 0 {
		a.add(it)
	}
	return 0
}

func (it auxItem) end() {
	if it.destroy != 0 {
		C.embed_call_free(C.uintptr_t(it.destroy), C.uintptr_t(it.val))
	}
	if it.fn != nil {
		it.fn()
	}
}

func (a *auxList) destroy() {
	for len(a.items) > 0 {
		it := a.items[0]
		a.items = a.items[1:]
		it.end()
	}
}
