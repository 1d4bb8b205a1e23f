// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"runtime/cgo"
	"strings"
	"unsafe"
)

// CurrentJob stands for the job of the callback that runs.
const CurrentJob uint64 = C.FLUX_JOBTAP_CURRENT_JOB

// Handle gives the job manager's handle. Implements flux_jobtap_get_flux(3).
func (p *Plugin) Handle() *Handle { return &Handle{h: C.flux_jobtap_get_flux(p.p)} }

// Service has fn called for requests to job-manager.NAME.method. It ends with
// the plugin. Implements flux_jobtap_service_register_ex(3).
func (p *Plugin) Service(method string, rolemask uint32, fn func(*Request)) error {
	cmethod := C.CString(method)
	defer C.free(unsafe.Pointer(cmethod))
	id := cgo.NewHandle(fn)
	rc, err := C.burrow_jobtap_service_register(p.p, cmethod, C.uint32_t(rolemask), C.uintptr_t(id))
	if rc < 0 {
		id.Delete()
		return failed(err)
	}
	p.callbacks = append(p.callbacks, id)
	return nil
}

// JobSubscribe asks for job.event.* callbacks of a job. A second call gives
// each callback twice. Implements flux_jobtap_job_subscribe(3).
func (p *Plugin) JobSubscribe(id uint64) error {
	if rc, err := C.flux_jobtap_job_subscribe(p.p, C.flux_jobid_t(id)); rc < 0 {
		return failed(err)
	}
	return nil
}

// JobUnsubscribe undoes JobSubscribe. Implements
// flux_jobtap_job_unsubscribe(3).
func (p *Plugin) JobUnsubscribe(id uint64) {
	C.flux_jobtap_job_unsubscribe(p.p, C.flux_jobid_t(id))
}

// JobLookup gives what a callback would get of a job, as JSON: jobspec, R,
// state and so on. ENOENT: no such job. Implements flux_jobtap_job_lookup(3).
func (p *Plugin) JobLookup(id uint64) (string, error) {
	a, err := C.flux_jobtap_job_lookup(p.p, C.flux_jobid_t(id))
	if a == nil {
		return "", failed(err)
	}
	defer C.flux_plugin_arg_destroy(a)
	return (&Args{a: a}).JSON()
}

// Raise raises an exception on a job; severity 0 ends it (RFC 21). Implements
// flux_jobtap_raise_exception(3).
func (p *Plugin) Raise(id uint64, kind string, severity int, note string) error {
	ckind, cnote := C.CString(kind), C.CString(strings.ReplaceAll(note, "\x00", `\0`))
	defer C.free(unsafe.Pointer(ckind))
	defer C.free(unsafe.Pointer(cnote))
	if rc, err := C.burrow_jobtap_raise(p.p, C.flux_jobid_t(id), ckind, C.int(severity), cnote); rc < 0 {
		return failed(err)
	}
	return nil
}

// PrologStart takes a hold on the start of the current job. Implements
// flux_jobtap_prolog_start(3).
func (p *Plugin) PrologStart(description string) error {
	cdesc := C.CString(description)
	defer C.free(unsafe.Pointer(cdesc))
	if rc, err := C.flux_jobtap_prolog_start(p.p, cdesc); rc < 0 {
		return failed(err)
	}
	return nil
}

// PrologFinish ends a hold of PrologStart. The job manager only counts holds:
// each is to be finished exactly once. Implements
// flux_jobtap_prolog_finish(3).
func (p *Plugin) PrologFinish(id uint64, description string, status int) error {
	cdesc := C.CString(description)
	defer C.free(unsafe.Pointer(cdesc))
	if rc, err := C.flux_jobtap_prolog_finish(p.p, C.flux_jobid_t(id), cdesc, C.int(status)); rc < 0 {
		return failed(err)
	}
	return nil
}

// EpilogStart takes a hold on the end of the current job, which is in
// CLEANUP. Implements flux_jobtap_epilog_start(3).
func (p *Plugin) EpilogStart(description string) error {
	cdesc := C.CString(description)
	defer C.free(unsafe.Pointer(cdesc))
	if rc, err := C.flux_jobtap_epilog_start(p.p, cdesc); rc < 0 {
		return failed(err)
	}
	return nil
}

// EpilogFinish ends a hold of EpilogStart. Implements
// flux_jobtap_epilog_finish(3).
func (p *Plugin) EpilogFinish(id uint64, description string, status int) error {
	cdesc := C.CString(description)
	defer C.free(unsafe.Pointer(cdesc))
	if rc, err := C.flux_jobtap_epilog_finish(p.p, C.flux_jobid_t(id), cdesc, C.int(status)); rc < 0 {
		return failed(err)
	}
	return nil
}

// PostPerilog takes a hold on a job that is not the current one, by posting
// the event that the functions above post: name is prolog-start or
// epilog-start. Implements flux_jobtap_event_post_pack(3).
func (p *Plugin) PostPerilog(id uint64, name, description string) error {
	cname, cdesc := C.CString(name), C.CString(description)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cdesc))
	if rc, err := C.burrow_jobtap_post_perilog(p.p, C.flux_jobid_t(id), cname, cdesc); rc < 0 {
		return failed(err)
	}
	return nil
}
