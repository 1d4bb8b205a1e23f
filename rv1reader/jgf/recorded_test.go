// SPDX-License-Identifier: LGPL-3.0-or-later

package jgf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flux-burrow/rv1reader"
)

func inventory(t testing.TB, r string) *Writer {
	t.Helper()
	R, err := rv1reader.Read([]byte(r))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(rv1reader.NewInventory(R), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func rOf(ranks, children, hosts, more string) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[{"rank":%q,"children":{%s}}],"nodelist":[%q]%s}}`,
		ranks, children, hosts, more)
}

// tree is a graph with its vertices and edges by path.
type tree struct {
	Vertices map[string]map[string]any
	Edges    map[string]string // child to parent
	ids      map[string]string // vertex ids of nodes
}

func parse(t testing.TB, text []byte) tree {
	t.Helper()
	var doc struct {
		Graph struct {
			Nodes []struct {
				ID       string
				Metadata map[string]any
			}
			Edges []struct{ Source, Target string }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out := tree{map[string]map[string]any{}, map[string]string{}, map[string]string{}}
	paths := map[string]string{}
	for _, n := range doc.Graph.Nodes {
		path := n.Metadata["paths"].(map[string]any)["containment"].(string)
		if paths[n.ID] != "" || out.Vertices[path] != nil {
			t.Errorf("vertex %s %s is there twice", n.ID, path)
		}
		paths[n.ID], out.Vertices[path] = path, n.Metadata
		if n.Metadata["type"] == "node" {
			out.ids[path] = n.ID
		}
	}
	for _, e := range doc.Graph.Edges {
		from, to := paths[e.Source], paths[e.Target]
		if from == "" || to == "" || out.Edges[to] != "" {
			t.Errorf("bad edge %v", e)
		}
		out.Edges[to] = from
	}
	return out
}

func TestRecordedPairs(t *testing.T) {
	w := inventory(t, rOf("0-7", `"core":"0-7","gpu":"0-1"`, "tioga[0-7]", ""))
	f, err := os.Open("../testdata/fluxion-rv1-jgf-pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var pair struct{ R, JGF json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		r, err := rv1reader.Read(pair.R)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.FromR(r)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(parse(t, pair.JGF), parse(t, got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", r.Short(), d)
		}
		// Fluxion's ids and order are met as well, which nothing depends on.
		if string(got) != string(pair.JGF) {
			t.Errorf("%s: other bytes\n%s\n%s", r.Short(), got, pair.JGF)
		}
	}
	if n != 5 {
		t.Errorf("%d pairs", n)
	}
}

func diff(want, got tree) string { return cmp.Diff(want, got, cmpopts.IgnoreUnexported(tree{})) }

// What Fluxion 0.54 wrote on machines of several kinds of nodes that lie between
// each other, with properties and odd host names, and on one of 60 nodes.
func TestRecordedKinds(t *testing.T) {
	f, err := os.Open("../testdata/fluxion-rv1-jgf-pairs-2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, shared := 0, 0
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); n++ {
		var pair struct {
			Request           string
			Inventory, R, JGF json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		w, r := inventory(t, string(pair.Inventory)), read(t, string(pair.R))
		m := w.inv.Map(r)
		whole := m.Whole
		if !strings.Contains(pair.Request, "--exclusive") {
			whole = nil
		}
		text, err := w.Graph(m.Set, whole)
		if err != nil {
			t.Fatal(err)
		}
		want, got := parse(t, pair.JGF), parse(t, text)
		if d := diff(want, got) + cmp.Diff(want.ids, got.ids); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", pair.Request, r.Short(), d)
		}
		// Without being told, a node is exclusive when nothing of it is left.
		if text, err = w.FromR(r); err != nil {
			t.Fatal(err)
		}
		got = parse(t, text)
		for rank := range m.Whole.All() {
			v := "/cluster0/" + w.inv.Host(rank)
			if got.Vertices[v]["exclusive"] != true {
				t.Errorf("%s: %s is not exclusive", pair.Request, v)
			}
			if want.Vertices[v]["exclusive"] != true {
				shared++
				delete(got.Vertices[v], "exclusive")
			}
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s %s from R (-want +got):\n%s", pair.Request, r.Short(), d)
		}
	}
	if lines.Err() != nil || n != 16 || shared == 0 {
		t.Errorf("%d pairs, %d whole nodes that are not exclusive, %v", n, shared, lines.Err())
	}
}
