// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import "syscall"

// LoseRank is the crash of a broker: its modules vanish with no word to
// anyone, and so do the brokers below it, which lost their parent. RPCs that
// wait for an answer from there are answered EHOSTUNREACH by the nearest
// broker that is left, without a text (overlay.c, fail_child_rpcs). The
// resource module posts "offline", and running jobs with a shell there get a
// node-failure.
func (in *Instance) LoseRank(rank int) {
	if rank == 0 {
		panic("embed: rank 0 is the instance: use RestartBroker")
	}
	if !in.brokers[rank].up {
		return
	}
	if in.brokers[rank].dead != nil {
		return
	}
	in.subtree(rank, in.vanish)
	in.rexec.lost(in.below(rank))
	if in.opts.LostAfter > 0 {
		in.brokers[rank].dead = in.after(nil, in.opts.LostAfter, func() { in.missed(rank) })
		return
	}
	in.missed(rank)
}

// below gives the brokers of a subtree that are not known to be lost.
func (in *Instance) below(rank int) (list []*broker) {
	in.subtree(rank, func(b *broker) {
		if b.up {
			list = append(list, b)
		}
	})
	return list
}

// missed: the overlay knows now that a broker is gone.
func (in *Instance) missed(rank int) {
	b := in.brokers[rank]
	if b.dead != nil {
		in.disarm(b.dead)
		b.dead = nil
	}
	if !b.up {
		return
	}
	above := in.lastUp(rank)
	lost := in.below(rank)
	for _, b := range lost {
		b.up = false
		b.unmonitor(nil)
	}
	self := in.brokers[above].self
	for _, b := range lost {
		for b.inflight.next != &b.inflight {
			m := b.inflight.next.m
			m.track.remove()
			m.has.remove()
			if in.reachable(m.from.rank) {
				self.respondError(m, syscall.EHOSTUNREACH, "")
			}
		}
	}
	in.changed(rank)
	in.log(0, "overlay", 3, in.Hostname(rank)+" (rank "+itoa(rank)+") failed")
	in.resource.offline(lost)
	in.exec.lost(lost)
}

// deadOn finds a crashed broker, not known to be, on the way to a rank.
func (in *Instance) deadOn(rank int) int {
	for r := rank; r > 0; r = in.brokers[r].parent {
		if in.brokers[r].dead != nil {
			return r
		}
	}
	return -1
}

// vanish drops all that lives on a broker.
func (in *Instance) vanish(b *broker) {
	for len(b.modules) > 0 {
		m := b.modules[len(b.modules)-1]
		b.modules = b.modules[:len(b.modules)-1]
		m.killed = true
		m.Handle.used = nil // nobody is left to tell the services
		m.Handle.close(false)
		m.ended = true
	}
	for name, h := range b.services {
		h.used = nil
		h.close(false)
		delete(b.services, name)
	}
}

// ReturnRank has a lost broker back, and those below it that were lost with
// it: new ones, with no modules but the instance's own services.
func (in *Instance) ReturnRank(rank int) {
	if p := in.brokers[rank].parent; p >= 0 && !in.brokers[p].up {
		panic("embed: ReturnRank: its parent is lost")
	}
	if dead := in.deadOn(rank); dead >= 0 {
		in.missed(dead)
	}
	var back []*broker
	in.subtree(rank, func(b *broker) {
		if !b.up {
			back = append(back, b)
		}
	})
	for _, b := range back {
		b.up = true
		b.joined(in.brokers[b.parent].config)
	}
	in.changed(rank)
	in.resource.online(back)
}

// Up tells whether a rank is there.
func (in *Instance) Up(rank int) bool { return in.brokers[rank].up }
