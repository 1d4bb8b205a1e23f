// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"strings"
)

// broker is one rank.
type broker struct {
	rank     int
	parent   int
	children []int
	depth    int
	up       bool
	dead     *timer // it crashed, which is not known yet
	// config is what this broker's modules are loaded with. updates counts its
	// lives: an update of an earlier one is void.
	config          string
	updates         int
	updating, again bool
	// changing counts updates under way, getters wait for their end.
	changing int
	getters  []*Msg
	services map[string]*Handle
	modules  []*Module
	// self is the broker's own end: it answers what can't be routed.
	self *Handle
	// monitors are requests to be told of the children's states.
	monitors []*Msg
	// inflight are requests from elsewhere that wait for an answer from here.
	inflight link
	// down and above count what crossed the link to the parent.
	down, above linkCount
}

// linkCount counts what crossed the link to the parent, in one direction.
type linkCount struct {
	requests, responses, bytes int
}

func (in *Instance) newBrokers(parents []int, config string) {
	in.brokers = make([]*broker, len(parents))
	for r, p := range parents {
		b := &broker{rank: r, parent: p, up: true, config: config}
		b.inflight.init()
		in.brokers[r] = b
		if p >= 0 {
			in.brokers[p].children = append(in.brokers[p].children, r)
			b.depth = in.brokers[p].depth + 1
		}
		b.self = in.newHandle(r, "broker")
	}
}

func (b *broker) addService(name string, h *Handle) {
	if b.services == nil {
		b.services = map[string]*Handle{}
	}
	b.services[name] = h
}

func (in *Instance) removeServices(h *Handle) {
	b := in.brokers[h.rank]
	for name, o := range b.services {
		if o == h {
			delete(b.services, name)
		}
	}
}

// lookup finds the handle that serves a topic's first word on a rank.
func (in *Instance) lookup(rank int, topic string) *Handle {
	name, _, _ := strings.Cut(topic, ".")
	if h := in.brokers[rank].services[name]; h != nil {
		return h
	}
	return in.builtin(name, rank)
}

// reachable: the rank and all between it and rank 0 are up.
func (in *Instance) reachable(rank int) bool { return in.brokers[rank].up }

// builtin gives the handle of one of the instance's own services on a rank,
// made when it is first used.
func (in *Instance) builtin(name string, rank int) *Handle {
	s := in.builtins[name]
	if s == nil || rank != 0 && s.leader {
		return nil
	}
	h := in.newHandle(rank, name)
	h.serve = func(r *Request) { s.serve(r) }
	in.brokers[rank].addService(name, h)
	return h
}

type builtin struct {
	leader bool // on rank 0 only
	serve  func(*Request)
}

// attr gives a broker attribute.
func (in *Instance) attr(rank int, name string) (string, bool) {
	if v, ok := in.opts.Attrs[name]; ok {
		return v, true
	}
	switch name {
	case "rank":
		return itoa(rank), true
	case "size":
		return itoa(len(in.brokers)), true
	case "tbon.topo":
		return in.opts.Topology, true
	case "tbon.level":
		return itoa(in.brokers[rank].depth), true
	case "tbon.descendants":
		n := -1
		in.subtree(rank, func(*broker) { n++ })
		return itoa(n), true
	case "tbon.parent-endpoint":
		if rank == 0 {
			return "", false
		}
		return "tcp://" + in.Hostname(in.brokers[rank].parent) + ":8050", true
	case "hostname":
		return in.Hostname(rank), true
	case "hostlist":
		return in.hostlist(), true
	case "security.owner":
		return itoa(int(in.opts.Owner)), true
	case "instance-level":
		return "0", true
	case "rundir":
		return "/run/flux", true
	}
	return "", false
}
