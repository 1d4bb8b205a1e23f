// SPDX-License-Identifier: LGPL-3.0-or-later

package jgf

import "testing"

// Allocations: one for the text, a dozen for the mapping, and a few buffers that
// serve all nodes. With a text buffer that is used again, as in the second, the
// text costs none; for large graphs to get fresh memory is half of the time.
func benchmark(b *testing.B, children string) {
	w := inventory(b, rOf("0-11135", children, "tuolumne[1001-12136]", ""))
	r := read(b, rOf("100-1099", children, "tuolumne[1101-2100]", ""))
	b.ReportAllocs()
	for range b.N {
		text, err := w.FromR(r)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}

func benchmarkAppend(b *testing.B, children string) {
	w := inventory(b, rOf("0-11135", children, "tuolumne[1001-12136]", ""))
	r := read(b, rOf("100-1099", children, "tuolumne[1101-2100]", ""))
	b.ReportAllocs()
	var text []byte
	for range b.N {
		m := w.inv.Map(r)
		var err error
		if text, err = w.AppendGraph(text[:0], m.Set, m.Whole); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}

func BenchmarkJGFAppend1000Nodes96Cores4GPUs(b *testing.B) {
	benchmarkAppend(b, `"core":"0-95","gpu":"0-3"`)
}

func BenchmarkJGF1000Nodes8Cores2GPUs(b *testing.B) { benchmark(b, `"core":"0-7","gpu":"0-1"`) }

func BenchmarkJGF1000Nodes96Cores4GPUs(b *testing.B) { benchmark(b, `"core":"0-95","gpu":"0-3"`) }
