// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/rv1reader"
)

// With writer=rv1 R has the graph of what it holds and an expiration, and is
// recovered as any other.
func TestWriterRV1(t *testing.T) {
	f := newFakeFlux(t, inventoryOf(4, 4, 2, ""))
	f.config.Writer = RV1
	f.load()
	f.run()
	whole, part := f.submit(nodesSpec(2, 0, "")), f.submit(slotsSpec(1, 3, 1, 100, ""))
	f.run()
	for _, tt := range []struct {
		j       *fakeJob
		paths   string
		forever bool
	}{
		{whole, "/cluster0/n0/gpu0 /cluster0/n0/gpu1", true},
		{part, "/cluster0/n2/core2", false},
	} {
		r, err := rv1reader.Read([]byte(f.kvs[tt.j.id.Key("R")]))
		if err != nil {
			t.Fatal(err)
		}
		if (r.Expiration == never) != tt.forever || r.Expiration == 0 {
			t.Errorf("%s expires at %f", tt.j.id, r.Expiration)
		}
		graph := string(r.Scheduling)
		for _, p := range strings.Fields(tt.paths) {
			if !strings.Contains(graph, `"`+p+`"`) {
				t.Errorf("%s is not in %s", p, graph)
			}
		}
		c := r.Set.Count()
		if n := int(gjson.Get(graph, "graph.nodes.#").Int()); n != 1+c.Nodes+c.Cores+c.GPUs {
			t.Errorf("%s: %d vertices for %s", tt.j.id, n, r.Short())
		}
	}
	f.reload()
	if got := f.engine.stats.hello.Jobs; got != 2 {
		t.Errorf("%d recovered", got)
	}
	f.end(whole)
	f.end(part)
	f.run()
	f.verify()
}

// An inventory without hosts has no paths: said when it is loaded.
func TestWriterNeedsHosts(t *testing.T) {
	f := newFakeFlux(t, `{"version":1,"execution":{"R_lite":[{"rank":"0-3","children":{"core":"0-3"}}]}}`)
	f.config.Writer = RV1
	f.load()
	f.run()
	if f.engine.Phase() != Stopped || !strings.Contains(strings.Join(f.log, "\n"), "writer=rv1: jgf: the inventory has no nodelist") {
		t.Errorf("phase %s, log %q", f.engine.Phase(), f.log)
	}
}
