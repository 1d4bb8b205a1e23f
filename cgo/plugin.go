// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
	"unsafe"
)

// Plugin is a loaded plugin of the job manager (RFC 21, flux-jobtap(1)). It
// is borrowed: the job manager destroys it.
type Plugin struct {
	p *C.flux_plugin_t
	// callbacks are freed with the plugin.
	callbacks []cgo.Handle
}

// PluginFromPointer makes a Plugin of a flux_plugin_t that C code owns.
func PluginFromPointer(p unsafe.Pointer) *Plugin {
	return &Plugin{p: (*C.flux_plugin_t)(p)}
}

// SetName sets the plugin's name. Implements flux_plugin_set_name(3).
func (p *Plugin) SetName(name string) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	if rc, err := C.flux_plugin_set_name(p.p, cname); rc < 0 {
		return failed(err)
	}
	return nil
}

// Conf gives the configuration that the plugin was loaded with, as JSON, ""
// where there is none. Implements flux_plugin_get_conf(3).
func (p *Plugin) Conf() string {
	conf := C.flux_plugin_get_conf(p.p)
	if conf == nil {
		return ""
	}
	return C.GoString(conf)
}

// AddHandler has fn called for topic (a glob). Its arguments are valid until
// it returns. An error from fn makes the callback fail. Implements
// flux_plugin_add_handler(3).
func (p *Plugin) AddHandler(topic string, fn func(topic string, args *Args) error) error {
	ctopic := C.CString(topic)
	defer C.free(unsafe.Pointer(ctopic))
	id := cgo.NewHandle(fn)
	if rc, err := C.burrow_plugin_add_handler(p.p, ctopic, C.uintptr_t(id)); rc < 0 {
		id.Delete()
		return failed(err)
	}
	p.callbacks = append(p.callbacks, id)
	return nil
}

// OnDestroy has fn called when the plugin is removed, while jobtap functions
// can still be called. It is called at most once a plugin. Implements
// flux_plugin_aux_set(3).
func (p *Plugin) OnDestroy(key string, fn func()) error {
	ckey := C.CString(key)
	defer C.free(unsafe.Pointer(ckey))
	id := cgo.NewHandle(func() {
		fn()
		for _, cb := range p.callbacks {
			cb.Delete()
		}
		p.callbacks = nil
	})
	if rc, err := C.burrow_plugin_on_destroy(p.p, ckey, C.uintptr_t(id)); rc < 0 {
		id.Delete()
		return failed(err)
	}
	return nil
}

// Args are the arguments of one callback.
type Args struct {
	a *C.flux_plugin_arg_t
}

// JSON gives the arguments in. Implements flux_plugin_arg_get(3).
func (a *Args) JSON() (string, error) {
	if a == nil || a.a == nil {
		return "", &Error{Num: syscall.EINVAL, Text: "callback without arguments"}
	}
	var s *C.char
	if rc, err := C.flux_plugin_arg_get(a.a, C.FLUX_PLUGIN_ARG_IN, &s); rc < 0 {
		return "", failed(err)
	}
	defer C.free(unsafe.Pointer(s))
	return C.GoString(s), nil
}

// Reply sets the arguments out, a JSON object. Implements
// flux_plugin_arg_set(3).
func (a *Args) Reply(json string) error {
	cjson := C.CString(json)
	defer C.free(unsafe.Pointer(cjson))
	if rc, err := C.flux_plugin_arg_set(a.a, C.FLUX_PLUGIN_ARG_OUT, cjson); rc < 0 {
		return failed(err)
	}
	return nil
}
