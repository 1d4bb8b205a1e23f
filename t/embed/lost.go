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
	above := in.lastUp(rank)
	var lost []*broker
	in.subtree(rank, func(b *broker) {
		if b.up {
			lost = append(lost, b)
		}
	})
	for _, b := range lost {
		b.up = false
	}
	for _, b := range lost {
		in.vanish(b)
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
	in.log(0, "overlay", 3, in.Hostname(rank)+" (rank "+itoa(rank)+") lost connection")
	in.resource.offline(lost)
	in.exec.lost(lost)
	in.rexec.lost(lost)
}

// vanish drops all that lives on a broker.
func (in *Instance) vanish(b *broker) {
	for len(b.modules) > 0 {
		m := b.modules[len(b.modules)-1]
		b.modules = b.modules[:len(b.modules)-1]
		m.killed = true
		m.Handle.used = nil // nobody is left to tell the services
		m.Handle.close(false)
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
	var back []*broker
	in.subtree(rank, func(b *broker) {
		if !b.up {
			back = append(back, b)
		}
	})
	for _, b := range back {
		b.up = true
	}
	in.resource.online(back)
}

// Up tells whether a rank is there.
func (in *Instance) Up(rank int) bool { return in.brokers[rank].up }
