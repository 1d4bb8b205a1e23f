// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"syscall"
)

// overlay.monitor: a broker tells who asks of its children's states, those that
// are not offline at first and then each that changes (overlay.c).

func (in *Instance) monitorRequest(r *Request) {
	if !r.Streaming() {
		r.RespondError(syscall.EPROTO, "")
		return
	}
	me := in.brokers[r.Rank()]
	for _, c := range me.children {
		r.Respond(in.childState(c))
	}
	r.Msg.incref()
	me.monitors = append(me.monitors, r.Msg)
}

func (in *Instance) childState(rank int) string {
	return fmt.Sprintf(`{"rank":%d,"status":%s,"torpid":false}`, rank, quote(in.health(in.brokers[rank])))
}

// changed tells those that monitor a broker's parent of its state.
func (in *Instance) changed(rank int) {
	p := in.brokers[rank].parent
	if p < 0 || !in.brokers[p].up {
		return
	}
	for _, m := range in.brokers[p].monitors {
		in.lookup(p, "overlay").respond(m, in.childState(rank), true)
	}
}

// unmonitor forgets the requests of one that is gone, nil: of all.
func (b *broker) unmonitor(from *Handle) {
	var left []*Msg
	for _, m := range b.monitors {
		if from == nil || m.from == from {
			m.decref()
			continue
		}
		left = append(left, m)
	}
	b.monitors = left
}
