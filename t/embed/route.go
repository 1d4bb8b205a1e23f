// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"syscall"
)

const (
	nodeAny      = 0xFFFFFFFF
	nodeUpstream = 0xFFFFFFFE
)

// sendRequest routes a request as broker and overlay do: to any rank means
// the first on the way to rank 0 that has the service; to a rank means that
// one or an error. The errors and their texts are those of broker.c and
// overlay.c.
func (in *Instance) sendRequest(m *Msg) {
	src := m.from.rank
	if !in.reachable(src) || m.from.closed && !m.noresponse {
		return
	}
	at := src
	switch {
	case m.upstream:
		at = in.brokers[src].parent
		if at < 0 {
			in.refuse(m, 0, syscall.EHOSTUNREACH, "")
			return
		}
		fallthrough
	case m.nodeid == nodeAny:
		for in.lookup(at, m.topic) == nil {
			if at == 0 {
				in.refuse(m, 0, syscall.ENOSYS, noService(m.topic))
				return
			}
			at = in.brokers[at].parent
		}
	case m.nodeid >= uint32(len(in.brokers)):
		// No route anywhere: it goes up to rank 0, which gives up.
		in.refuse(m, 0, syscall.EHOSTUNREACH, "")
		return
	default:
		at = int(m.nodeid)
		if dead := in.deadOn(at); dead >= 0 {
			if in.under(src, dead) {
				return
			}
			// The message finds nobody there. The answer to it takes a wrong route
			// and is lost (seen on 0.88; overlay.c, overlay_sendmsg_child).
			in.missed(dead)
			return
		}
		if !in.reachable(at) {
			in.refuse(m, in.lastUp(at), syscall.EHOSTUNREACH, "")
			return
		}
	}
	h := in.lookup(at, m.topic)
	if h == nil {
		in.count(src, at, 0, len(m.payload))
		in.refuse(m, at, syscall.ENOSYS, noService(m.topic))
		return
	}
	in.count(src, at, 0, len(m.payload))
	if !m.noresponse && src != at && m.matchtag != 0 {
		m.track.m = m
		in.brokers[at].inflight.push(&m.track)
	}
	in.transmit(m.from, h, m)
}

func noService(topic string) string { return "No service matching " + topic + " is registered" }

// lastUp is the broker nearest to a lost rank that still answers.
func (in *Instance) lastUp(rank int) int {
	for r := in.brokers[rank].parent; r >= 0; r = in.brokers[r].parent {
		if in.brokers[r].up {
			return r
		}
	}
	return 0
}

func (in *Instance) refuse(m *Msg, at int, num syscall.Errno, text string) {
	in.brokers[at].self.respondError(m, num, text)
}

// transmit puts a message on its way to a handle.
func (in *Instance) transmit(from, to *Handle, m *Msg) {
	t := task{owner: to, msg: m}
	if in.opts.Latency <= 0 || from.rank == to.rank {
		in.post(from.id, to.id, t)
		return
	}
	// Messages of one sender to one receiver do not overtake each other.
	n := in.hops(from.rank, to.rank, func(*broker, bool) {})
	key := uint64(from.id)<<32 | uint64(to.id)
	at := in.Elapsed() + in.opts.Latency*timeDuration(n)
	if last := in.arrival[key]; at <= last {
		at = last + 1
	}
	if in.arrival == nil {
		in.arrival = map[uint64]timeDuration{}
	}
	in.arrival[key] = at
	in.arm(&timer{index: -1, t: t}, at-in.Elapsed())
}

// undeliverable answers a message whose receiver went while it was on its
// way: a module that ended answers what it did not look at with ENOSYS
// (libflux/module.c), one that was killed is answered for.
func (in *Instance) undeliverable(h *Handle, m *Msg) {
	if m.kind != msgRequest || m.done || m.noresponse {
		return
	}
	if !in.reachable(h.rank) || in.deadOn(h.rank) >= 0 {
		return // answered when the broker is missed
	}
	if h.module != nil && h.module.killed {
		if m.matchtag == 0 {
			return
		}
		in.refuse(m, h.rank, syscall.EHOSTUNREACH, "module disconnect")
		return
	}
	in.refuse(m, h.rank, syscall.ENOSYS, "")
}

// Publish sends an event to all who subscribed. Events are numbered by rank 0
// and reach every broker, whoever listens there.
func (in *Instance) Publish(topic, payload string) { in.publish(in.brokers[0].self, topic, payload) }

func (in *Instance) publish(from *Handle, topic, payload string) {
	from.tx[2]++
	if from.rank != 0 {
		in.count(from.rank, 0, 0, len(payload))
	}
	in.events++
	in.eventBytes += len(payload)
	for _, h := range in.subscribers {
		if h.subscribed(topic) && in.reachable(h.rank) {
			in.transmit(in.brokers[0].self, h, &Msg{in: in, kind: msgEvent, topic: topic,
				payload: payload, hasPayload: payload != "", from: from,
				userid: from.userid, rolemask: from.rolemask})
		}
	}
}

func (in *Instance) dropSubscriber(h *Handle) {
	for i, o := range in.subscribers {
		if o == h {
			in.subscribers = append(in.subscribers[:i:i], in.subscribers[i+1:]...)
			return
		}
	}
}
