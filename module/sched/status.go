// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import "syscall"

// onStatus answers sched.resource-status: R of all nodes, of those that are
// down and of what jobs hold. Today's flux-resource list(1) asks the resource
// module (resource.sched-status), which asks the job manager; older ones and
// other tools ask here.
func (e *Engine) onStatus(_ string, r Request) {
	if e.pool == nil {
		e.respondError(r, coded{syscall.EAGAIN, "the scheduler has not got the inventory yet"})
		return
	}
	b := append([]byte(`{"all":`), e.pool.All().Encode()...)
	b = append(b, `,"down":`...)
	b = append(b, e.pool.Down().Encode()...)
	b = append(b, `,"allocated":`...)
	b = append(b, e.pool.Allocated().Encode()...)
	e.respond(r, string(append(b, '}')))
}
