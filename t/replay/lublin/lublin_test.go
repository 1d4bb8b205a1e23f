// SPDX-License-Identifier: LGPL-3.0-or-later

package lublin

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flux-burrow/t/replay/swf"
)

func make1(t *testing.T, o Options) *swf.Workload {
	t.Helper()
	w, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSeed(t *testing.T) {
	o := Options{Nodes: 100, Jobs: 500, Load: 0.9, Seed: 7}
	a := make1(t, o)
	if d := cmp.Diff(a, make1(t, o)); d != "" {
		t.Error("the same seed gives something else:", d)
	}
	o.Seed++
	if cmp.Equal(a.Jobs, make1(t, o).Jobs) {
		t.Error("another seed gives the same")
	}
}

func TestJobs(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 8, 100, 128, 11136} {
		w := make1(t, Options{Nodes: nodes, Jobs: 2000, Load: 0.8, Seed: 1})
		last := 0.0
		for _, j := range w.Jobs {
			if j.Procs < 1 || j.Procs > int64(nodes) {
				t.Fatalf("%d nodes: a job of %d", nodes, j.Procs)
			}
			if j.Run < 1 || j.Run > math.Exp(runMax) || j.ReqTime < j.Run || j.ReqTime > Slack*j.Run+60 {
				t.Fatalf("%d nodes: run %g limit %g", nodes, j.Run, j.ReqTime)
			}
			if j.Submit < last {
				t.Fatalf("%d nodes: %g comes after %g", nodes, j.Submit, last)
			}
			last = j.Submit
		}
		if w.MaxNodes() != int64(nodes) {
			t.Errorf("header: %q", w.Header)
		}
	}
}

// The shares of sizes are those of the model.
func TestSizes(t *testing.T) {
	w := make1(t, Options{Nodes: 128, Jobs: 20000, Seed: 3})
	one, power := 0.0, 0.0
	for _, j := range w.Jobs {
		switch {
		case j.Procs == 1:
			one++
		case bits.OnesCount64(uint64(j.Procs)) == 1:
			power++
		}
	}
	one, power = one/20000, power/20000
	if math.Abs(one-serial) > 0.01 || power < power2-0.01 || power > power2+0.04 {
		t.Errorf("%.3f serial, %.3f powers of two", one, power)
	}
}

func TestLoad(t *testing.T) {
	for _, load := range []float64{0.5, 0.9, 1.2} {
		w := make1(t, Options{Nodes: 64, Jobs: 1000, Load: load, Seed: 9})
		work := 0.0
		for _, j := range w.Jobs {
			work += float64(j.Procs) * j.Run
		}
		if got := work / (64 * w.Jobs[len(w.Jobs)-1].Submit); math.Abs(got-load) > 0.001 {
			t.Errorf("load %.4f, want %g", got, load)
		}
	}
	for _, o := range []Options{{}, {Nodes: 1}, {Nodes: 1, Jobs: 1, Load: -1}} {
		if _, err := Generate(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ a, b float64 }{{0.5, 2}, {6.57, 0.823}, {639.1, 0.0156}} {
		const n = 50000
		sum, below := 0.0, 0.0
		for range n {
			v := gamma(rng, c.a, c.b)
			sum += v
			if v <= c.a*c.b {
				below++
			}
		}
		if mean := sum / n; math.Abs(mean/(c.a*c.b)-1) > 0.02 {
			t.Errorf("gamma(%g, %g): mean %g, want %g", c.a, c.b, mean, c.a*c.b)
		}
		if got, want := below/n, gammaCDF(c.a*c.b, c.a, c.b); math.Abs(got-want) > 0.01 {
			t.Errorf("gamma(%g, %g): %g below the mean, its function says %g", c.a, c.b, got, want)
		}
	}
	if got := gammaCDF(1, 1, 1); math.Abs(got-(1-math.Exp(-1))) > 1e-12 {
		t.Errorf("gamma(1, 1) at 1: %g", got)
	}
}

func TestDay(t *testing.T) {
	d := newDay()
	sum, least, most := 0.0, 0, 0
	for i, w := range d.weight {
		sum += w
		if w < d.weight[least] {
			least = i
		}
		if w > d.weight[most] {
			most = i
		}
	}
	if math.Abs(sum-halfHours) > 1e-9 {
		t.Errorf("the weights are %g in all", sum)
	}
	if least/2 > 7 || most/2 < 9 || most/2 > 17 {
		t.Errorf("the least busy hour is %d, the most busy %d", least/2, most/2)
	}
	for _, at := range []float64{0, 1, 1799, 1800, 50000, 86399, 86400, 1e6, 123456.5} {
		if got := d.clock(d.weighted(at)); math.Abs(got-at) > 1e-6 {
			t.Errorf("%g becomes %g", at, got)
		}
	}
}
