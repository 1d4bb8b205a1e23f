// SPDX-License-Identifier: LGPL-3.0-or-later

package jgf

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

func read(t testing.TB, text string) *rv1reader.R {
	t.Helper()
	r, err := rv1reader.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNodeNames(t *testing.T) {
	for _, c := range []struct {
		host, base, name string
		id               float64
	}{
		{"tioga7", "tioga", "", 7},
		{"tioga07", "tioga", "tioga07", 7},
		{"tioga000", "tioga", "tioga000", 0},
		{"login", "login", "login", -1},
		{"n1-ib0", "n1-ib", "", 0},
		{"n1.x", "n1.x", "n1.x", -1},
		{"node08", "", "node08", 8}, // a base name that is the type is left out
		{"42", "42", "42", 42},
		{"é1", "é", "", 1},
	} {
		R := rOf("0", `"core":"0"`, c.host, "")
		got, err := inventory(t, R).FromR(read(t, R))
		if err != nil {
			t.Fatal(err)
		}
		m := parse(t, got).Vertices["/cluster0/"+c.host]
		want := map[string]any{"type": "node", "id": c.id, "rank": 0.0, "exclusive": true,
			"paths": map[string]any{"containment": "/cluster0/" + c.host}}
		if c.base != "" {
			want["basename"] = c.base
		}
		if c.name != "" {
			want["name"] = c.name
		}
		if d := cmp.Diff(want, m); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.host, d)
		}
	}
}

func TestPropertiesAndUnknownTypes(t *testing.T) {
	inv := rOf("0-2", `"core":"0-3","gpu":"0","fpga \"x\"":"2-3"`, "n[0-2]",
		`,"properties":{"zeta":"0-1","amd@gpu":"1","+here":"1"}`)
	got, err := inventory(t, inv).FromR(read(t, rOf("1", `"core":"1","fpga \"x\"":"3"`, "n1", "")))
	if err != nil {
		t.Fatal(err)
	}
	tr := parse(t, got)
	want := map[string]any{"zeta": "", "amd@gpu": "", "+here": ""}
	node := tr.Vertices["/cluster0/n1"]
	if d := cmp.Diff(want, node["properties"]); d != "" {
		t.Error(d)
	}
	if node["exclusive"] != nil {
		t.Error("a part of a node is exclusive")
	}
	if f := tr.Vertices[`/cluster0/n1/fpga "x"3`]; f["type"] != `fpga "x"` || f["id"] != 3.0 || f["exclusive"] != true {
		t.Errorf("unknown type: %v", f)
	}
	if len(tr.Vertices) != 4 || len(tr.Edges) != 3 {
		t.Errorf("%d vertices, %d edges", len(tr.Vertices), len(tr.Edges))
	}
	if strings.Index(string(got), "+here") > strings.Index(string(got), "zeta") {
		t.Error("properties are not sorted")
	}
}

// Vertex ids must be the same for one vertex in every graph, and differ between
// vertices, in an inventory whose nodes differ.
func TestIDs(t *testing.T) {
	w := inventory(t, `{"version":1,"execution":{"R_lite":[
		{"rank":"0,2,5","children":{"core":"0-3,8"}},
		{"rank":"1","children":{"core":"2-3","gpu":"4,6"}},
		{"rank":"9","children":{"gpu":"0"}}],"nodelist":["a[0-4]"]}}`)
	ids := map[string]string{}
	paths := map[string]string{}
	for _, part := range []*idset.Set{idset.New(0), idset.New(1), idset.New(2, 9), idset.NewRange(0, 9)} {
		set := w.inv.Set().SelectRanks(part)
		got, err := w.Graph(set, nil)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, got)
		var doc struct {
			Graph struct {
				Nodes []struct {
					ID       string
					Metadata struct {
						Paths struct{ Containment string }
					}
				}
			}
		}
		if err := json.Unmarshal(got, &doc); err != nil {
			t.Fatal(err)
		}
		for _, n := range doc.Graph.Nodes {
			p := n.Metadata.Paths.Containment
			if ids[p] != "" && ids[p] != n.ID || paths[n.ID] != "" && paths[n.ID] != p {
				t.Errorf("%s has ids %s and %s", p, ids[p], n.ID)
			}
			ids[p], paths[n.ID] = n.ID, p
		}
	}
	if c := w.inv.Set().Count(); len(ids) != 1+c.Nodes+c.Cores+c.GPUs {
		t.Errorf("%d vertices for %+v", len(ids), c)
	}
}

func TestRefusals(t *testing.T) {
	inv := rOf("0-1", `"core":"0-3"`, "n[0-1]", "")
	w := inventory(t, inv)
	for _, c := range []struct{ name, r, want string }{
		{"unknown rank", rOf("5", `"core":"0"`, "n5", ""), "no such rank"},
		{"moved host", rOf("0", `"core":"0"`, "n1", ""), "the host is at rank 1 now"},
		{"core out of range", rOf("0", `"core":"3-4"`, "n0", ""), "core4"},
		{"unknown type", rOf("0", `"core":"3","nvme":"0"`, "n0", ""), "nvme0"},
	} {
		if _, err := w.FromR(read(t, c.r)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
	if _, err := w.Graph(read(t, rOf("5", `"core":"0"`, "n5", "")).Set, nil); err == nil {
		t.Error("Graph took a rank that is not there")
	}
	for name, r := range map[string]string{
		"no nodelist": `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]}}`,
		"slash":       rOf("0", `"a/b":"0"`, "n0", ""),
	} {
		if _, err := New(rv1reader.NewInventory(read(t, r)), Options{}); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := New(w.inv, Options{Cluster: "a/b"}); err == nil {
		t.Error("cluster name with a slash not refused")
	}
	slash := rOf("0", `"core":"0"`, "n/0", "")
	if _, err := inventory(t, slash).FromR(read(t, slash)); err == nil {
		t.Error("host name with a slash not refused")
	}
}

func TestClusterAndEmpty(t *testing.T) {
	R := rOf("0", `"core":"0"`, "n0", "")
	w, err := New(rv1reader.NewInventory(read(t, R)), Options{Cluster: "tuolumne"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.FromR(read(t, R))
	if err != nil {
		t.Fatal(err)
	}
	if v := parse(t, got).Vertices["/tuolumne0"]; v["type"] != "cluster" || v["basename"] != "tuolumne" {
		t.Errorf("cluster %v", v)
	}
	if room := w.room(w.inv.Set()); len(got) > room || len(got) < room/3 {
		t.Errorf("room for %d bytes, the graph has %d", room, len(got))
	}
	got, err = w.Graph(nil, nil)
	if err != nil || string(got) != `{"graph":{"nodes":[],"edges":[]}}` {
		t.Errorf("empty set: %s %v", got, err)
	}
}
