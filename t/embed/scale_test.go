// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"fmt"
	"testing"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/t/embed"
)

// agent is a module as small as can be, one on each of many ranks.
func agent(h *flux.Handle, _ []string) (func(), error) {
	mh, err := h.HandleRequest("agent.do", 0, func(r *flux.Request) { _ = r.Respond(`{"ok":true}`) })
	if err != nil {
		return nil, err
	}
	return mh.Destroy, nil
}

// All nodes of a big machine in one process, with a module on each.
func TestElevenThousandRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	const size = 11136
	for _, topo := range []string{"kary:0", "kary:32"} {
		in := embed.New(embed.Options{Size: size, Topology: topo})
		for r := range size {
			if _, err := in.LoadModule(r, "agent", nil, agent); err != nil {
				t.Fatal(err)
			}
		}
		id := submit(t, in, embed.Jobspec{Nodes: size, Exclusive: true, Run: embed.Forever})
		running(t, in, id)
		in.ResetStats()
		answers := 0
		for r := range size {
			in.Call(0, uint32(r), "agent.do", `{"ranks":"0-11135"}`, func(a embed.Response) {
				if a.Err() == nil {
					answers++
				}
			})
		}
		in.Settle()
		if answers != size {
			t.Errorf("%s: %d answers", topo, answers)
		}
		if s := in.Stats(); s.Links[1].DownRequests != s.Links[1].UpResponses || s.Links[1].DownRequests == 0 {
			t.Errorf("%s: link of rank 1: %+v", topo, s.Links[1])
		}
		if err := in.Cancel(id); err != nil {
			t.Fatal(err)
		}
		finished(t, in, id)
		closed(t, in)
	}
}

// history is a short life of an instance: rabbit and other jobs, cancels, a
// lost rank, a restart of the job manager.
func history(t testing.TB, seed uint64) string {
	in := embed.New(embed.Options{Size: 4, Seed: seed, Cores: 4})
	r := &recorder{}
	if _, err := in.LoadPlugin("dump.so", "", r.init); err != nil {
		t.Fatal(err)
	}
	if _, err := in.DWS(embed.DWSOptions{SetupDelay: time.Second, PostRunDelay: time.Second, Jitter: time.Second}); err != nil {
		t.Fatal(err)
	}
	for rank := range 4 {
		if _, err := in.LoadModule(rank, "agent", nil, agent); err != nil {
			t.Fatal(err)
		}
	}
	var ids []embed.JobID
	for i := range 8 {
		s := embed.Jobspec{Nodes: 1 + i%3, Run: time.Duration(i) * time.Second}
		if i%2 == 0 {
			s.DW = dw
		}
		id, err := in.Submit(s)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		in.Advance(300 * time.Millisecond)
	}
	_ = in.Cancel(ids[seed%8])
	in.Advance(time.Second)
	if seed%5 == 0 {
		in.LoseRank(3)
		in.Advance(time.Second)
		in.ReturnRank(3)
	}
	if !in.Run(in.Idle, time.Hour) {
		for _, l := range in.Log() {
			t.Log(l)
		}
		for _, id := range in.Active() {
			t.Log(in.Eventlog(id))
		}
		t.Fatalf("seed %d: jobs %v never ended", seed, in.Active())
	}
	s := fmt.Sprint(in.Elapsed(), in.Steps(), len(r.lines))
	for _, l := range r.lines {
		s += l.topic[4:6]
	}
	in.Close()
	if l := in.Leaks(); len(l) > 0 {
		t.Errorf("seed %d: %v", seed, l)
	}
	return s
}

func TestHistories(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 20
	}
	different := map[string]bool{}
	for seed := uint64(1); seed <= n; seed++ {
		s := history(t, seed)
		if seed < 5 && s != history(t, seed) {
			t.Errorf("seed %d does not repeat", seed)
		}
		different[s] = true
	}
	if len(different) < int(n)*9/10 {
		t.Errorf("%d seeds, %d histories", n, len(different))
	}
}

// Instances do not know of each other.
func TestParallel(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed < 10; seed++ {
				if first := history(t, seed); first != history(t, seed) {
					t.Errorf("seed %d does not repeat", seed)
				}
			}
		})
	}
}

func BenchmarkHistory(b *testing.B) {
	for i := range b.N {
		history(b, uint64(i+1))
	}
}
