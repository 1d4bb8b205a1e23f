// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"flux-burrow/hooks/jobid"
	"flux-burrow/t/embed"
)

func randomJob(rng *rand.Rand, size int) embed.Jobspec {
	spec := embed.Jobspec{Run: time.Duration(rng.IntN(20000)) * time.Millisecond, Urgency: 1 + rng.IntN(31)}
	if rng.IntN(2) == 0 {
		spec.Nodes, spec.Exclusive = 1+rng.IntN(size), rng.IntN(2) == 0
	} else {
		spec.Slots = 1 + rng.IntN(size)
	}
	if rng.IntN(2) == 0 {
		spec.TimeLimit = time.Minute
	}
	return spec
}

// molest cancels a job, extends it or changes its urgency; it may be over, and
// refuse.
func (s *site) molest(rng *rand.Rand, ids []embed.JobID) {
	topic, payload := "raise", `{"id":%d,"type":"cancel","severity":0}`
	switch rng.IntN(3) {
	case 0:
		topic, payload = "update", `{"id":%d,"updates":{"attributes.system.duration":600.0}}`
	case 1:
		topic, payload = "urgency", `{"id":%d,"urgency":`+fmt.Sprint(1+rng.IntN(31))+`}`
	}
	s.in.Call(0, 0, "job-manager."+topic, fmt.Sprintf(payload, ids[rng.IntN(len(ids))]), func(embed.Response) {})
}

// history is what may happen to a scheduler, in any order.
func history(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	size := 1 + rng.IntN(6)
	s := newSite(t, embed.Options{Size: size, Cores: 1 + rng.IntN(4), GPUs: rng.IntN(2), Seed: seed}, rng.IntN(2) == 0)
	s.hk = func(embed.JobID, int) time.Duration { return time.Duration(rng.IntN(5)) * time.Second }
	args := func() []string {
		return []string{
			"policy=" + []string{"fifo", "easy", "conservative"}[rng.IntN(3)],
			"match=" + []string{"first", "best", "worst"}[rng.IntN(3)],
			"queue-depth=" + []string{"unlimited", "1", "4"}[rng.IntN(3)],
		}
	}
	var ids []embed.JobID
	for range 60 {
		switch k := rng.IntN(12); {
		case k < 5:
			ids = append(ids, s.submit(randomJob(rng, size)))
		case k < 8 && len(ids) > 0:
			s.molest(rng, ids)
		case k == 8:
			s.in.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
		case k == 9:
			s.setHooks(!s.hooks)
		default:
			if rng.IntN(4) == 0 {
				s.m.Kill()
			} else {
				s.m.Unload()
			}
			// The broker sends the old one's disconnects before it loads another.
			s.in.Settle()
			if rng.IntN(2) == 0 {
				s.in.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
			}
			s.load(args()...)
		}
		for range rng.IntN(40) {
			s.in.Step()
		}
	}
	s.allEnd(ids)
	s.end()
}

// allEnd has all jobs end by themselves: none is left waiting for ever.
func (s *site) allEnd(ids []embed.JobID) {
	s.in.Run(s.in.Idle, 24*time.Hour)
	for _, id := range ids {
		if s.in.State(id) != embed.StateInactive {
			s.t.Fatalf("%s is lost: %v", jobid.ID(id).String(), s.in.Eventlog(id))
		}
	}
}

func TestSchedulerHistories(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 30
	}
	for seed := uint64(1); seed <= n && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, seed) })
	}
}

// Case k: a hundred reloads in a row while jobs come, go and change.
func TestSchedulerHundredReloads(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		rng := rand.New(rand.NewPCG(100, 1))
		s := newSite(t, embed.Options{Size: 10, Cores: 4, GPUs: 2, Seed: 100}, hooks)
		var ids []embed.JobID
		for range 100 {
			for range rng.IntN(6) {
				ids = append(ids, s.submit(randomJob(rng, 10)))
				s.molest(rng, ids)
			}
			s.m.Unload()
			s.in.Settle()
			if rng.IntN(2) == 0 {
				s.molest(rng, ids)
				s.in.Advance(time.Duration(rng.IntN(2000)) * time.Millisecond)
			}
			s.load()
			for range rng.IntN(60) {
				s.in.Step()
			}
			s.in.Advance(time.Duration(rng.IntN(3)) * time.Second)
		}
		s.allEnd(ids)
		s.end()
	})
}
