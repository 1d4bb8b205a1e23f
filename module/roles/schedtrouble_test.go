// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// trouble is a history of reloads at each of which something is not as the
// scheduler before left it: R in the KVS, the nodes, jobs that ended before
// ready, a process that was killed.
func trouble(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	size := 4 + rng.IntN(5)
	s := newSite(t, embed.Options{Size: size, Cores: 1 + rng.IntN(4), GPUs: rng.IntN(2), Seed: seed}, rng.IntN(2) == 0)
	s.doubts = anyDoubts
	s.hk = func(embed.JobID, int) time.Duration { return time.Duration(rng.IntN(3)) * time.Second }
	if rng.IntN(2) == 0 {
		s.in.Service("job-list", func(r *embed.Request) { r.RespondError(syscall.ENOSYS, "") })
	}
	var ids []embed.JobID
	for range 12 {
		for range rng.IntN(8) {
			ids = append(ids, s.submit(randomJob(rng, size)))
		}
		s.in.Advance(time.Duration(rng.IntN(3000)) * time.Millisecond)
		s.m.Unload()
		s.in.Settle()
		s.setHooks(rng.IntN(3) == 0)
		s.trouble(rng)
		s.start([]string{"policy=" + []string{"fifo", "easy", "conservative"}[rng.IntN(3)]}, embed.AsProcess)
		s.steps(rng.IntN(60))
		s.m.Pause()
		for range rng.IntN(5) {
			if len(ids) > 0 {
				s.molest(rng, ids)
			}
		}
		s.in.Advance(time.Duration(rng.IntN(3000)) * time.Millisecond)
		if rng.IntN(4) == 0 {
			s.killed()
			s.load()
		} else {
			s.m.Resume()
		}
		s.in.Advance(time.Duration(rng.IntN(3000)) * time.Millisecond)
	}
	// What can't run on the nodes that are left now can on all of them.
	s.m.Unload()
	s.in.Settle()
	s.nodes("")
	s.load()
	s.allEnd(ids)
	s.end()
}

// trouble spoils R of some jobs and leaves nodes out.
func (s *site) trouble(rng *rand.Rand) {
	for _, id := range s.in.Active() {
		if j, _ := s.in.Job(id); j.R != "" && rng.IntN(6) == 0 {
			s.putR(id, badR[rng.IntN(5)].r) // those that can't be read
		}
	}
	switch rng.IntN(3) {
	case 0:
		s.nodes(fmt.Sprint(rng.IntN(4)))
	case 1:
		s.nodes("")
	}
}

// nodes excludes these and no others.
func (s *site) nodes(exclude string) {
	if err := s.in.ConfigReload(fmt.Sprintf("[resource]\nexclude = %q\n", exclude)); err != nil {
		s.t.Fatal(err)
	}
	s.in.ReloadResourceModule()
}

func TestSchedulerTroubles(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 30
	}
	for seed := uint64(1); seed <= n && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { trouble(t, seed) })
	}
}
