// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/tidwall/sjson"
)

// Small services of the broker and of standard modules.

func (in *Instance) newServices() {
	in.builtins["config"] = &builtin{serve: func(r *Request) {
		if r.Topic() != "config.get" {
			unknownMethod(r)
			return
		}
		in.brokers[r.Rank()].getConfig(r)
	}}
	in.builtins["overlay"] = &builtin{serve: in.overlayRequest}
	in.builtins["job-info"] = &builtin{leader: true, serve: in.jobInfoRequest}
	in.builtins["job-list"] = &builtin{leader: true, serve: in.jobListRequest}
	in.builtins["kvs"] = &builtin{serve: in.kvsRequest}
	in.builtins["broker"] = &builtin{serve: func(r *Request) {
		if r.Topic() == "broker.ping" {
			r.Respond(jsonSet(r.Payload(), map[string]any{"rank": r.Rank()}))
			return
		}
		unknownMethod(r)
	}}
}

func unknownMethod(r *Request) {
	if strings.HasSuffix(r.Topic(), ".disconnect") {
		return
	}
	r.RespondError(syscall.ENOSYS, "Unknown service method '"+r.Topic()+"'")
}

// overlayRequest: the topology of a subtree, the state of children
// (overlay.c).
func (in *Instance) overlayRequest(r *Request) {
	switch r.Topic() {
	case "overlay.topology":
		o := jsonGet(r.Payload(), "rank")
		rank := int(o.Int())
		switch {
		case !o.Exists():
			r.RespondError(syscall.EPROTO, "")
		case rank != r.Rank() && !contains(in.brokers[r.Rank()].children, rank):
			r.RespondError(syscall.ENOENT, "requested rank is not this broker or its direct child")
		default:
			var b strings.Builder
			in.writeTopology(&b, rank)
			r.Respond(b.String())
		}
	case "overlay.health":
		var b strings.Builder
		me := in.brokers[r.Rank()]
		fmt.Fprintf(&b, `{"rank":%d,"status":%s,"duration":0.0,"children":[`, r.Rank(), quote(in.health(me)))
		for i, c := range me.children {
			if i > 0 {
				b.WriteByte(',')
			}
			child := in.brokers[c]
			fmt.Fprintf(&b, `{"rank":%d,"status":%s,"duration":0.0`, c, quote(in.health(child)))
			if !child.up {
				b.WriteString(`,"error":"lost connection"`)
			}
			b.WriteByte('}')
		}
		b.WriteString("]}")
		r.Respond(b.String())
	case "overlay.monitor":
		in.monitorRequest(r)
	case "overlay.disconnect":
		in.brokers[r.Rank()].unmonitor(r.Msg.from)
	default:
		unknownMethod(r)
	}
}

func (in *Instance) writeTopology(b *strings.Builder, rank int) int {
	size := -1
	in.subtree(rank, func(*broker) { size++ })
	fmt.Fprintf(b, `{"rank":%d,"size":%d,"children":[`, rank, size+1)
	for i, c := range in.brokers[rank].children {
		if i > 0 {
			b.WriteByte(',')
		}
		in.writeTopology(b, c)
	}
	b.WriteString("]}")
	return size
}

func (in *Instance) health(b *broker) string {
	if !b.up {
		return "lost"
	}
	state := "full"
	in.subtree(b.rank, func(o *broker) {
		if o.parent == b.rank && !o.up {
			state = "degraded"
		} else if !o.up && state == "full" {
			state = "partial"
		}
	})
	return state
}

// jobInfoRequest: data of a job from the KVS; with the CURRENT flag
// (2) updates are applied (FACTS 26).
func (in *Instance) jobInfoRequest(r *Request) {
	if r.Topic() != "job-info.lookup" {
		unknownMethod(r)
		return
	}
	p := jsonParse(r.Payload())
	id := p.Get("id").Uint()
	flags := p.Get("flags").Int()
	if _, ok := in.kvs.data[jobKey(id, "eventlog")]; !ok {
		r.RespondError(syscall.ENOENT, "invalid job id")
		return
	}
	out := fmt.Sprintf(`{"id":%d`, id)
	for _, k := range p.Get("keys").Array() {
		v := in.kvs.lookup(jobKey(id, k.Str))
		if v.errnum != 0 {
			text := ""
			if v.errnum == syscall.ENOENT {
				text = k.Str + ": key not found"
			}
			r.RespondError(v.errnum, text)
			return
		}
		text := v.value
		if flags&2 != 0 && (k.Str == "R" || k.Str == "jobspec") {
			text = in.withUpdates(id, k.Str, text)
		}
		if flags&1 != 0 && k.Str != "eventlog" { // FLUX_JOB_LOOKUP_JSON_DECODE
			out += "," + quote(k.Str) + ":" + text
		} else {
			out += "," + quote(k.Str) + ":" + marshal(text)
		}
	}
	r.Respond(out + "}")
}

func (in *Instance) withUpdates(id JobID, key, text string) string {
	events, _ := parseEvents(in.kvs.data[jobKey(id, "eventlog")])
	for _, e := range events {
		if key == "R" && e.Name == "resource-update" {
			text, _ = sjson.SetRaw(text, "execution.expiration", jsonGet(e.Context, "expiration").Raw)
		}
		if key == "jobspec" && e.Name == "jobspec-update" {
			for k, v := range jsonParse(e.Context).Map() {
				text, _ = sjson.SetRaw(text, k, v.Raw)
			}
		}
	}
	return text
}

func (in *Instance) kvsRequest(r *Request) {
	switch r.Topic() {
	case "kvs.ping":
		r.Respond(jsonSet(r.Payload(), map[string]any{"rank": r.Rank()}))
	case "kvs.stats-get":
		r.RespondJSON(map[string]int{"lookups": in.kvs.lookups, "commits": in.kvs.commits})
	default:
		unknownMethod(r)
	}
}
