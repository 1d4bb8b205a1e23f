// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f(i))
	}
	return b.String()
}

func quote(s string) string { return `"` + s + `"` }

// hostile makes inputs that are to cost more than their length.
func hostile(n int) map[string]string {
	odd := repeat(n, func(i int) string { return fmt.Sprint(2 * i) })
	entry := func(rank, children string) string {
		return `{"rank":` + quote(rank) + `,"children":{` + children + `}}`
	}
	return map[string]string{
		"one rank in every entry": doc("["+repeat(n, func(i int) string {
			return entry("0", fmt.Sprintf(`"core":"%d"`, 2*i))
		})+"]", ""),
		"one rank and one core in every entry": doc("["+repeat(n, func(int) string { return entry("0", `"core":"0"`) })+"]", ""),
		"ranks in one another": doc("["+repeat(n, func(i int) string {
			return entry(fmt.Sprintf("%d-%d", i, 3*n-i), fmt.Sprintf(`"core":"%d"`, i))
		})+"]", ""),
		"each rank its own children": doc("["+repeat(n, func(i int) string {
			return entry(fmt.Sprint(i), fmt.Sprintf(`"core":"%d"`, i))
		})+"]", ""),
		"many runs of ranks": doc("["+entry(odd, `"core":"0-95"`)+"]", ""),
		"many runs and properties over all": doc("["+entry(odd, `"core":"0"`)+"]",
			`,"properties":{`+repeat(n, func(i int) string { return fmt.Sprintf(`"p%d":"0-%d"`, i, 2*n) })+"}"),
		"many runs of cores": doc("["+entry("0-11135", `"core":`+quote(odd))+"]", ""),
		"many types":         doc("["+entry("0", repeat(n, func(i int) string { return fmt.Sprintf(`"t%d":"0"`, i) }))+"]", ""),
		"one type many times": doc("["+entry("0", repeat(n, func(i int) string {
			return `"core":"0"`
		}))+"]", ""),
		"many hosts":          doc(okLite, `,"nodelist":[`+repeat(n, func(i int) string { return `"n[0-1000000]"` })+"]"),
		"hosts with suffixes": doc(`[{"rank":"0-1048575","children":{"core":"0"}}]`, `,"nodelist":["n[0-1048575]-ib0"]`),
		"a nodelist of numbers": doc(`[{"rank":"0-1048575","children":{"core":"0"}}]`,
			`,"nodelist":["tuolumne[1001-12136],n[0-1037439]"]`),
		"many faults":    doc("["+repeat(n, func(int) string { return "7" })+"]", ""),
		"ends in nested": strings.Repeat(`{"a":`, n),
		"all keys again": `{` + repeat(n, func(int) string { return `"version":1` }) + `,"execution":{"R_lite":[]}}`,
	}
}

// None may take more memory than a fixed multiple of its length.
func TestHostileInputs(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	inv := NewInventory(mustRead(t, machineR))
	for name, in := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := Read([]byte(in))
			m := inv.Map(r)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes: allocated %d, error: %.120v", len(in), used, err)
			if !inv.Set().Contains(m.Set) {
				t.Error("mapped something that is not there")
			}
			if used > uint64(len(in)*400+1<<20) && !strings.Contains(name, "hosts") && !strings.Contains(name, "nodelist") {
				t.Errorf("%d bytes cost %d bytes of memory", len(in), used)
			}
		})
	}
}

// BenchmarkHostile shows nanoseconds for a byte of twice as long an input
// beside those of the input: their ratio is near 1 where time follows length.
func BenchmarkHostile(b *testing.B) {
	const n = 10000
	inv := NewInventory(mustRead(b, machineR))
	half := hostile(n)
	for name, whole := range hostile(2 * n) {
		b.Run(name, func(b *testing.B) {
			each := [2]float64{}
			for i, in := range []string{half[name], whole} {
				start := time.Now()
				for range b.N {
					r, _ := Read([]byte(in))
					inv.Map(r)
				}
				each[i] = float64(time.Since(start).Nanoseconds()) / float64(b.N*len(in))
			}
			b.ReportMetric(each[1], "ns/byte")
			b.ReportMetric(each[1]/each[0], "growth")
		})
	}
}
