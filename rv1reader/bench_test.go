// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"testing"

	"flux-burrow/rv1reader/idset"
)

// The machine of the benchmarks: 11,136 nodes of 96 cores and 4 gpus.
const (
	machineNodes = 11136
	machineR     = `{"version":1,"execution":{"R_lite":[{"rank":"0-11135","children":{"core":"0-95","gpu":"0-3"}}],` +
		`"nodelist":["tuolumne[1001-12136]"],"properties":{"pbatch":"0-11000","pdebug":"11001-11135"},` +
		`"starttime":1796051933,"expiration":1796053733}}`
)

func mustRead(t testing.TB, text string) *R {
	t.Helper()
	r, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// smallR are R of 4 nodes each, on ranks that follow.
func smallR(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		lo := i * 4 % (machineNodes - 4)
		all[i] = fmt.Appendf(nil, `{"version": 1, "execution": {"R_lite": [{"rank": "%d-%d", "children": `+
			`{"core": "0-95", "gpu": "0-3"}}], "nodelist": ["tuolumne[%d-%d]"], "starttime": 1796051933.0, `+
			`"expiration": 1796053733.0}}`, lo, lo+3, 1001+lo, 1004+lo)
	}
	return all
}

// Allocations, for this and the next: R with its set; a set of ids each for
// ranks (twice: of the entry, and all), cores and gpus; the children; the
// segments and the kinds of the resource set; the nodelist with its run and its
// text; and per property its name and ranks.
func BenchmarkReadMachine(b *testing.B) {
	data := []byte(machineR)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for range b.N {
		if _, err := Read(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead4Nodes(b *testing.B) {
	all := smallR(10000)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := Read(all[i%len(all)]); err != nil {
			b.Fatal(err)
		}
	}
}

// An R of as many nodes that all have other cores free is the worst that a
// partly used machine gives: an entry, its children and a piece of the index
// of equal children for each node.
func BenchmarkReadMachineAllDifferent(b *testing.B) {
	r := mustRead(b, machineR)
	var groups []Group
	for rank := range machineNodes {
		cores := idset.FromRuns([]idset.Run{{Lo: rank % 90, Hi: 95}, {Lo: rank % 80, Hi: rank % 80}})
		groups = append(groups, Group{idset.New(rank), CoresGPUs(cores, idset.New(rank%4))})
	}
	r.Set = NewResourceSet(groups...)
	data := r.Encode()
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	b.ResetTimer()
	for range b.N {
		if _, err := Read(data); err != nil {
			b.Fatal(err)
		}
	}
}

// Allocations: the mapping, its sets (doubt, lost, whole, the ranks that are
// sure) and the resource set with its segments and kinds. None per rank: host
// names are compared in a buffer on the stack.
func BenchmarkMap4Nodes(b *testing.B) {
	inv := NewInventory(mustRead(b, machineR))
	var jobs []*R
	for _, data := range smallR(10000) {
		jobs = append(jobs, mustRead(b, string(data)))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if m := inv.Map(jobs[i%len(jobs)]); !m.Fits() {
			b.Fatal(m.Problems)
		}
	}
}

// The same for one job of the whole machine, which costs no more: hosts that
// are written the same way on both sides are compared by the run.
func BenchmarkMapMachine(b *testing.B) {
	r := mustRead(b, machineR)
	inv := NewInventory(r)
	b.ReportAllocs()
	for range b.N {
		if m := inv.Map(r); !m.Fits() {
			b.Fatal(m.Problems)
		}
	}
}

// Allocations: per rank the first claim, and pieces of the two maps as they
// grow.
func BenchmarkBook4Nodes(b *testing.B) {
	inv := NewInventory(mustRead(b, machineR))
	var sets []*ResourceSet
	for _, data := range smallR(machineNodes/4 - 1) {
		sets = append(sets, inv.Map(mustRead(b, string(data))).Set)
	}
	b.ReportAllocs()
	b.ResetTimer()
	l := NewLedger()
	for i := range b.N {
		if i%len(sets) == 0 {
			l = NewLedger()
		}
		if o := l.Book(uint64(i), sets[i%len(sets)]); o != nil {
			b.Fatal(o)
		}
	}
}

// Allocations: the list of groups, the ranks of each, and the text.
func BenchmarkEncodeMachine(b *testing.B) {
	r := mustRead(b, machineR)
	b.ReportAllocs()
	for range b.N {
		r.Encode()
	}
}

// Allocations: the text of all names as it grows, the map of hosts and its
// parts, and two lists of positions. None per host.
func BenchmarkNewInventory(b *testing.B) {
	r := mustRead(b, machineR)
	b.ReportAllocs()
	for range b.N {
		NewInventory(r)
	}
}
