// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

/*
#include "embed.h"
*/
import "C"

import (
	"unsafe"

	"github.com/tidwall/sjson"
)

// Plugin is a flux_plugin_t of the job manager.
type Plugin struct {
	in        *Instance
	jm        *jobManager
	cell      unsafe.Pointer
	base      string // the file's name, by which it is removed
	name      string
	cname     *C.char
	conf      string
	cconf     *C.char
	handlers  []pluginHandler
	aux       auxList
	jobs      []*job // that it subscribed to, as often as it did
	detached  bool
	destroyed bool
}

type pluginHandler struct {
	topic   string
	cb, arg uintptr
	fn      func(topic string, j *job, args *Args) int
}

func (p *Plugin) pointer() unsafe.Pointer {
	if p.cell == nil {
		p.cell = p.in.cells.alloc(kindPlugin, p)
	}
	return p.cell
}

func (p *Plugin) setName(name string) {
	p.name = name
	cfree(p.cname)
	p.cname = cstring(name)
}

func (p *Plugin) match(topic string) *pluginHandler {
	for i := range p.handlers {
		if h := &p.handlers[i]; h.topic == topic || glob(h.topic, topic) {
			return h
		}
	}
	return nil
}

// call calls the first handler that matches: 1, 0 where there is none, -1.
func (p *Plugin) call(topic string, args *Args) int {
	h := p.match(topic)
	if h == nil {
		return 0
	}
	if t := p.in.opts.OnCallback; t != nil {
		t(p.base, topic, args.in_)
	}
	rc := 0
	if h.fn != nil {
		var j *job
		if n := len(p.jm.stack); n > 0 {
			j = p.jm.stack[n-1]
		}
		rc = h.fn(topic, j, args)
	} else {
		ctopic := cstring(topic)
		rc = int(C.embed_call_plugin(C.uintptr_t(h.cb), p.cell, ctopic, args.pointer(), C.uintptr_t(h.arg)))
		cfree(ctopic)
	}
	if rc < 0 {
		return -1
	}
	return 1
}

func (p *Plugin) subscribe(j *job) {
	j.subscribers = append(j.subscribers, p)
	p.jobs = append(p.jobs, j)
}

// unsubscribe ends all of the plugin's subscriptions to a job.
func (p *Plugin) unsubscribe(j *job) {
	kept := j.subscribers[:0:0]
	for _, o := range j.subscribers {
		if o != p {
			kept = append(kept, o)
		}
	}
	j.subscribers = kept
	jobs := p.jobs[:0:0]
	for _, o := range p.jobs {
		if o != j {
			jobs = append(jobs, o)
		}
	}
	p.jobs = jobs
}

func (p *Plugin) destroy() {
	if p.destroyed {
		return
	}
	p.handlers = nil
	p.aux.destroy()
	p.destroyed = true
	for len(p.jobs) > 0 {
		p.unsubscribe(p.jobs[0])
	}
	cfree(p.cname)
	cfree(p.cconf)
	if p.cell != nil {
		p.in.cells.release(p.cell)
		p.cell = nil
	}
}

// Args is a flux_plugin_arg_t.
type Args struct {
	in   *Instance
	in_  string // arguments in
	out  string
	cell unsafe.Pointer
}

func newArgs(in *Instance, args string) *Args { return &Args{in: in, in_: args, out: "{}"} }

func (a *Args) pointer() unsafe.Pointer {
	if a.cell == nil {
		a.cell = a.in.cells.alloc(kindArgs, a)
	}
	return a.cell
}

func (a *Args) destroy() {
	if a.cell != nil {
		a.in.cells.release(a.cell)
		a.cell = nil
	}
}

func (a *Args) errmsg(otherwise string) string {
	if e := jsonGet(a.out, "errmsg"); e.Exists() {
		return e.Str
	}
	return otherwise
}

//export embedGoPluginSetName
func embedGoPluginSetName(p unsafe.Pointer, name *C.char) C.int {
	pl := object[Plugin](p, kindPlugin)
	if pl == nil || name == nil {
		return -C.EINVAL
	}
	pl.setName(C.GoString(name))
	return 0
}

//export embedGoPluginName
func embedGoPluginName(p unsafe.Pointer) *C.char {
	if pl := object[Plugin](p, kindPlugin); pl != nil {
		return pl.cname
	}
	return nil
}

//export embedGoPluginConf
func embedGoPluginConf(p unsafe.Pointer) *C.char {
	pl := object[Plugin](p, kindPlugin)
	if pl == nil || pl.conf == "" {
		return nil
	}
	if pl.cconf == nil {
		pl.cconf = cstring(pl.conf)
	}
	return pl.cconf
}

//export embedGoPluginHandler
func embedGoPluginHandler(p unsafe.Pointer, topic *C.char, cb, arg C.uintptr_t) C.int {
	pl := object[Plugin](p, kindPlugin)
	if pl == nil || topic == nil {
		return -C.EINVAL
	}
	h := pluginHandler{topic: C.GoString(topic), cb: uintptr(cb), arg: uintptr(arg)}
	for i, o := range pl.handlers {
		if o.topic == h.topic {
			pl.handlers = append(pl.handlers[:i:i], pl.handlers[i+1:]...)
			break
		}
	}
	if cb != 0 {
		pl.handlers = append(pl.handlers, h)
	}
	return 0
}

//export embedGoPluginAuxSet
func embedGoPluginAuxSet(p unsafe.Pointer, key *C.char, val, destroy C.uintptr_t) C.int {
	pl := object[Plugin](p, kindPlugin)
	if pl == nil {
		return -C.EINVAL
	}
	return pl.aux.setC(key, val, destroy)
}

//export embedGoPluginAuxGet
func embedGoPluginAuxGet(p unsafe.Pointer, key *C.char, err *C.int) C.uintptr_t {
	pl := object[Plugin](p, kindPlugin)
	if pl == nil || key == nil {
		*err = C.EINVAL
		return 0
	}
	v, ok := pl.aux.get(C.GoString(key))
	if !ok {
		*err = C.ENOENT
	}
	return C.uintptr_t(v)
}

//export embedGoArgGet
func embedGoArgGet(p unsafe.Pointer, out C.int, s **C.char) C.int {
	a := object[Args](p, kindArgs)
	if a == nil || s == nil {
		return -C.EINVAL
	}
	text := a.in_
	if out != 0 {
		text = a.out
	}
	if text == "" {
		return -C.ENOENT
	}
	*s = cstring(text) // the caller frees it
	return 0
}

//export embedGoArgSet
func embedGoArgSet(p unsafe.Pointer, out, replace C.int, s *C.char) C.int {
	a := object[Args](p, kindArgs)
	if a == nil {
		return -C.EINVAL
	}
	dst := &a.in_
	if out != 0 {
		dst = &a.out
	}
	if s == nil {
		*dst = ""
		return 0
	}
	o := jsonParse(C.GoString(s))
	if !o.IsObject() {
		return -C.EINVAL
	}
	if replace != 0 || *dst == "" {
		*dst = "{}"
	}
	for key, val := range o.Map() {
		*dst, _ = sjson.SetRaw(*dst, key, val.Raw)
	}
	return 0
}

//export embedGoArgDestroy
func embedGoArgDestroy(p unsafe.Pointer) {
	if a := object[Args](p, kindArgs); a != nil {
		a.destroy()
	}
}
