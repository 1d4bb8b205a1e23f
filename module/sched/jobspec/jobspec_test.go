// SPDX-License-Identifier: LGPL-3.0-or-later

package jobspec

import (
	"fmt"
	"strings"
	"testing"
)

func spec(resources, system string) []byte {
	return fmt.Appendf(nil, `{"version":1,"resources":[%s],"tasks":[],"attributes":{"system":{"duration":60%s}}}`, resources, system)
}

func slot(count, with string) string {
	return fmt.Sprintf(`{"type":"slot","count":%s,"label":"t","with":[%s]}`, count, with)
}

func group(typ, count, with string) string {
	return fmt.Sprintf(`{"type":%q,"count":%s,"with":[%s]}`, typ, count, with)
}

const core2 = `{"type":"core","count":2}`

func TestShapes(t *testing.T) {
	tests := []struct {
		name, resources string
		want            string // nodes slots slotnodes cores gpus exclusive
	}{
		{"slots", slot("3", core2), "0 3 0 2 0 false"},
		{"slots with gpus", slot("3", core2+`,{"type":"gpu","count":1}`), "0 3 0 2 1 false"},
		{"a range of slots", slot(`"3-7"`, core2), "0 3-7 0 2 0 false"},
		{"nodes", group("node", "4", slot("2", core2)), "4 2 0 2 0 false"},
		{"nodes, exclusive", `{"type":"node","count":4,"exclusive":true,"with":[` + slot("2", core2) + `]}`, "4 2 0 2 0 true"},
		{"exclusive slots", `{"type":"slot","count":4,"exclusive":true,"label":"t","with":[` + core2 + `]}`, "4 1 0 2 0 true"},
		{"a slot of nodes", slot("2", group("node", "3", core2)), "6 1 3 2 0 false"},
		{"racks", group("rack", "2", group("node", "3", slot("1", core2))), "3 times 2 1 0 2 0 false"},
		{"sockets on nodes", group("node", "1", group("socket", "2", slot("1", core2))), "1 2 0 2 0 false"},
		{"sockets in slots", slot("1", group("socket", "2", core2)), "0 1 0 4 0 false"},
		{"storage beside", group("node", "1", slot("1", core2)) + `,{"type":"ssd","count":10}`, "1 1 0 2 0 false"},
	}
	for _, tt := range tests {
		r, err := Parse(spec(tt.resources, ""))
		if err != nil {
			t.Errorf("%s: %s", tt.name, err)
			continue
		}
		got := fmt.Sprint(r.Nodes, " ", r.Slots, " ", r.SlotNodes, " ", r.Cores, " ", r.GPUs, " ", r.Exclusive)
		if got != tt.want && !strings.Contains(tt.want, "times") || r.Duration != 60 {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	r, err := Parse(spec(group("rack", "2", group("node", `"1-3"`, slot("1", core2))), ""))
	if err != nil || r.Nodes.Min != 2 || r.Nodes.Max != 6 {
		t.Errorf("two racks of 1-3 nodes: %+v %v", r, err)
	}
	if n, _ := r.Nodes.Largest(5); n != 4 {
		t.Errorf("two racks of 1-3 nodes, 5 there: %d", n)
	}
}

func TestSystem(t *testing.T) {
	r, err := Parse(spec(slot("1", core2), `,"queue":"batch","constraints":{"properties":["a"]}`))
	if err != nil || r.Queue != "batch" || r.Constraint == nil {
		t.Errorf("%+v %v", r, err)
	}
	for _, version := range []string{`"version":1,`, `"version":9999,`, ""} {
		_, err := Parse(fmt.Appendf(nil, `{%s"resources":[%s]}`, version, slot("1", core2)))
		if (err != nil) != strings.Contains(version, ":1,") {
			t.Errorf("no duration, %s %v", version, err)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := core2
	for range 100 {
		deep = group("x", "1", deep)
	}
	tests := []struct{ in, word string }{
		{`{`, "JSON"},
		{`[]`, "resources"},
		{`{"resources":{}}`, "resources"},
		{`{"resources":[]}`, "empty"},
		{string(spec(`1`, "")), "resources[0] is not an object"},
		{string(spec(`{"count":1}`, "")), "no type"},
		{string(spec(core2, "")), "inside a slot"},
		{string(spec(group("node", "1", core2), "")), "resources[0].with[0] (core): it must be inside a slot"},
		{string(spec(group("node", "1", `{"type":"x"}`), "")), "no slot"},
		{string(spec(slot("1", `{"type":"gpu","count":1}`), "")), "no core"},
		{string(spec(`{"type":"slot","count":1}`, "")), "resources in it"},
		{string(spec(slot("1", core2)+","+slot("1", core2), "")), "more than one slot"},
		{string(spec(group("node", "1", group("node", "1", slot("1", core2))), "")), "more than one kind of node"},
		{string(spec(slot("1", core2+","+core2), "")), "two of this type"},
		{string(spec(slot("0", core2), "")), "not in 1-"},
		{string(spec(slot(`"x"`, core2), "")), "no idset"},
		{string(spec(slot("1", deep), "")), "deep"},
		{string(spec(slot("1", group("node", `"1-2"`, core2)), "")), "range of nodes"},
		{string(spec(slot("2147483647", `{"type":"core","count":2147483647}`), "")), "more than"},
		{string(spec(`{"type":"node","exclusive":1,"with":[`+slot("1", core2)+`]}`, "")), "exclusive"},
		{string(spec(`{"type":"node","with":3}`, "")), "with"},
		{string(spec(slot("1", core2), `,"queue":3`)), "queue"},
		{string(spec(slot("1", core2), `,"constraints":{"x":[]}`)), "constraints: x"},
		{`{"version":1,"resources":[` + slot("1", core2) + `],"attributes":{"system":{"duration":-1}}}`, "duration"},
		{`{"version":1,"resources":[` + slot("1", core2) + `],"attributes":{"system":{"duration":"1h"}}}`, "duration"},
	}
	for _, tt := range tests {
		_, err := Parse([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.word) {
			t.Errorf("%.120s: error is %v, want one with %q", tt.in, err, tt.word)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		slot("1", core2), group("node", `"1-3"`, slot(`{"min":1,"max":4,"operator":"^","operand":2}`, core2)),
		slot("2", group("node", "3", core2)), group("rack", "2147483647", group("node", "2147483647", slot("1", core2))),
	} {
		f.Add(spec(s, `,"constraints":{"not":[{"ranks":["0-3"]}]}`))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Parse(in)
		if err != nil {
			return
		}
		if r.Slots.Min < 1 || r.Cores.Min < 1 || r.Slots.Min*r.Cores.Min > MaxCount || r.Nodes.Max > MaxCount {
			t.Errorf("%+v", r)
		}
		for _, c := range []Count{r.Nodes, r.Slots, r.Cores, r.GPUs} {
			if n, ok := c.Largest(1000); ok && (n > 1000 || n < c.Min) {
				t.Errorf("%s: largest up to 1000 is %d", c, n)
			}
		}
	})
}
