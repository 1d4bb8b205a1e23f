// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// overlay is a tree of agents without brokers: each that is there answers as
// an Agent does, by a Spread over what is below it.
type overlay struct {
	parents []int
	tree    []*Tree
	// fault of a rank's agent; nil: it works.
	fault []error
	// link counts the requests that came over the link above a rank.
	link []int
	host *fakeHost
	asks []int // how often a rank was asked for itself
}

func newOverlay(parents []int) *overlay {
	o := &overlay{parents: parents, host: newFakeHost(), fault: make([]error, len(parents)),
		link: make([]int, len(parents)), asks: make([]int, len(parents)), tree: make([]*Tree, len(parents))}
	for r := len(parents) - 1; r >= 0; r-- {
		o.tree[r] = &Tree{Rank: uint32(r), Ranks: idset.New(r)}
	}
	for r := len(parents) - 1; r > 0; r-- {
		p := o.tree[parents[r]]
		p.Children = append(p.Children, o.tree[r])
		p.Ranks.AddSet(o.tree[r].Ranks)
		p.Height = max(p.Height, o.tree[r].Height+1)
	}
	return o
}

// caller is the host of one rank: what it sends crosses the links between.
type caller struct {
	*fakeHost
	o    *overlay
	rank int
}

func (c caller) Call(rank uint32, _, payload string, _ time.Duration, done func(string, error)) {
	to := int(rank)
	for r := to; r != c.rank && r > 0; r = c.o.parents[r] {
		c.o.link[r]++
	}
	c.o.host.post(func() {
		if err := c.o.fault[to]; err != nil {
			done("", err)
			return
		}
		req, err := wire.DecodeSet(payload)
		if err != nil {
			done("", err)
			return
		}
		local := func(done func(Result)) {
			c.o.asks[to]++
			c.o.host.post(func() { done(Result{}) })
		}
		SetBelow(caller{c.o.host, c.o, to}, "burrow", c.o.tree[to], time.Minute, req, local, nil,
			func(r wire.SetResponse) { done(wire.Encode(r), nil) })
	})
}

func (o *overlay) set(ranks *idset.Set) (answers []wire.SetResponse) {
	req := wire.SetRequest{Ranks: ranks, Need: wire.Need{ID: 1, Phase: 1, Gen: 2}}
	SetBelow(caller{o.host, o, 0}, "burrow", o.tree[0], time.Minute, req, nil, nil,
		func(r wire.SetResponse) { answers = append(answers, r) })
	o.host.turn()
	return answers
}

// On any tree with any faults, each rank that is asked either does it once, or
// is a failure once, with the reason that is its own or of one on the way; and
// the whole is answered once.
func TestSpread(t *testing.T) {
	faults := []error{nil, nil, nil, nil, syscall.ENOSYS, syscall.EHOSTUNREACH, syscall.ETIMEDOUT, errors.New("odd")}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		parents := make([]int, size)
		shape := rapid.SampledFrom([]string{"any", "flat", "binary", "chain"}).Draw(t, "shape")
		for r := 1; r < size; r++ {
			switch shape {
			case "any":
				parents[r] = rapid.IntRange(0, r-1).Draw(t, "parent")
			case "binary":
				parents[r] = (r - 1) / 2
			case "chain":
				parents[r] = r - 1
			}
		}
		o := newOverlay(parents)
		ranks := idset.New()
		for r := range size {
			o.fault[r] = rapid.SampledFrom(faults).Draw(t, "fault")
			if rapid.Bool().Draw(t, "asked") {
				ranks.Add(r)
			}
		}
		if ranks.Empty() {
			ranks.Add(size - 1)
		}
		answers := o.set(ranks)
		if len(answers) != 1 {
			t.Fatalf("%d answers", len(answers))
		}
		times := map[int]int{}
		for _, f := range answers[0].Failed {
			for r := range f.Ranks.All() {
				times[r]++
				checkReason(t, o, r, f.Reason)
			}
		}
		for r := range size {
			want := 0
			if ranks.Contains(r) {
				want = 1
			}
			if times[r]+o.asks[r] != want {
				t.Fatalf("rank %d: asked %d times, failed %d times, want %d in all; parents %v faults %v",
					r, o.asks[r], times[r], want, parents, o.fault)
			}
		}
	})
}

func checkReason(t *rapid.T, o *overlay, r int, reason string) {
	err := o.fault[r]
	switch {
	case strings.HasPrefix(reason, "not reached: rank "):
		var by int
		fmt.Sscanf(reason, "not reached: rank %d", &by)
		if !o.tree[by].Ranks.Contains(r) || o.fault[by] != syscall.ETIMEDOUT || by == r {
			t.Fatalf("rank %d: %s", r, reason)
		}
	case reason == "burrow agent: odd":
	case err == syscall.ENOSYS && reason == wire.NotLoaded:
	case err == syscall.EHOSTUNREACH && wire.IsLost(reason):
	case err == syscall.ETIMEDOUT && strings.HasPrefix(reason, "no answer from the burrow agent"):
	default:
		t.Fatalf("rank %d has the fault %v and the reason %q", r, err, reason)
	}
}

// Without faults a request crosses each link once, and only the links on the
// way to a rank that it is for.
func TestOncePerLink(t *testing.T) {
	for _, k := range []int{1, 2, 16} {
		parents := make([]int, 100)
		for r := 1; r < len(parents); r++ {
			parents[r] = (r - 1) / k
		}
		o := newOverlay(parents)
		ranks := idset.New(0, 7, 50, 99)
		o.set(ranks)
		for r := 1; r < len(parents); r++ {
			want := 0
			if o.tree[r].Ranks.Overlaps(ranks) {
				want = 1
			}
			if o.link[r] != want {
				t.Errorf("kary:%d: %d requests to rank %d, want %d", k, o.link[r], r, want)
			}
		}
	}
}

// A rank that does not answer in time is the only one to fail; where those
// below it don't either, the broker there hangs, and all below it fail.
func TestAroundSilent(t *testing.T) {
	parents := []int{0, 0, 0, 1, 1, 3, 3}
	o := newOverlay(parents)
	o.fault[1] = syscall.ETIMEDOUT
	if got := failures(o); got != "1: no answer from the burrow agent in 1m6s" {
		t.Error(got)
	}
	o = newOverlay(parents)
	o.fault[1], o.fault[3] = syscall.ETIMEDOUT, syscall.ETIMEDOUT
	want := "1: no answer from the burrow agent in 1m6s; 3: no answer from the burrow agent in 1m4s; " +
		"5-6: not reached: rank 3 on the way there does not answer"
	if got := failures(o); got != want {
		t.Error(got)
	}
}

// failures asks all ranks and lists what failed.
func failures(o *overlay) string {
	var list []string
	for _, f := range o.set(idset.NewRange(0, len(o.tree)-1))[0].Failed {
		list = append(list, f.Ranks.String()+": "+f.Reason)
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

// A rank that the tree has not is a failure of that rank.
func TestNoSuchRank(t *testing.T) {
	o := newOverlay([]int{0, 0})
	answers := o.set(idset.New(1, 7))
	if len(answers) != 1 || len(answers[0].Failed) != 1 || answers[0].Failed[0].Ranks.String() != "7" || o.asks[1] != 1 {
		t.Errorf("%+v", answers)
	}
}

// The whole machine: what one wish costs on a flat tree and on a binary one.
func BenchmarkSpread(b *testing.B) {
	for _, shape := range []struct {
		name string
		k    int
	}{{"flat", 11135}, {"kary:2", 2}, {"kary:32", 32}} {
		b.Run(shape.name, func(b *testing.B) {
			parents := make([]int, 11136)
			for r := 1; r < len(parents); r++ {
				parents[r] = (r - 1) / shape.k
			}
			o := newOverlay(parents)
			all := idset.NewRange(0, len(parents)-1)
			b.ResetTimer()
			for range b.N {
				if n := len(o.set(all)); n != 1 {
					b.Fatalf("%d answers", n)
				}
			}
			most := 0
			for _, n := range o.link {
				most = max(most, n)
			}
			b.ReportMetric(float64(most)/float64(b.N), "requests/link")
			b.ReportMetric(float64(len(o.tree[0].Children)), "leader's-links")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(parents)), "ns/rank")
		})
	}
}
