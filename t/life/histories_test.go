// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	flagSeed  = flag.Uint64("life.seed", 0, "play the history of one seed, with its log")
	flagFirst = flag.Uint64("life.first", 1, "first seed of TestHistories")
	flagN     = flag.Uint64("life.n", 0, "number of histories; 0: what this build does in CI")
)

func TestMain(m *testing.M) {
	// Each history leaves much garbage, and little that stays.
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// The long random test. A failing seed is shortened, and played again by
//
//	go test ./t/life -run TestHistories -life.seed=N
func TestHistories(t *testing.T) {
	if *flagSeed != 0 {
		h := newHistory(*flagSeed)
		t.Logf("%v", h)
		broken, text := h.live(true)
		t.Logf("\n%s", text)
		for _, b := range broken {
			t.Error(b)
		}
		return
	}
	n := *flagN
	if n == 0 {
		n = histories
		if testing.Short() {
			n = 200
		}
	}
	begin := time.Now()
	var next, failed atomic.Uint64
	next.Store(*flagFirst)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for failed.Load() == 0 {
				seed := next.Add(1) - 1
				if seed >= *flagFirst+n {
					return
				}
				if broken, _ := newHistory(seed).live(false); len(broken) > 0 {
					if failed.CompareAndSwap(0, seed) {
						t.Error(report(seed, broken))
					}
				}
			}
		}()
	}
	wg.Wait()
	if failed.Load() == 0 {
		t.Logf("%d histories in %v", n, time.Since(begin).Round(time.Second))
	}
}

// report tells of a history that violates something: its seed, what it
// violates, and the shortest part of it found that does so too.
func report(seed uint64, broken []string) string {
	short := shorten(newHistory(seed), 20*time.Second)
	again, text := short.live(true)
	if lines := strings.Split(text, "\n"); len(lines) > 120 {
		text = "...\n" + strings.Join(lines[len(lines)-120:], "\n")
	}
	return fmt.Sprintf("seed %d (replay: go test ./t/life -run 'TestHistories$' -life.seed=%d):\n%s\nshortened:\n%v%s\n%s",
		seed, seed, strings.Join(broken, "\n"), short, strings.Join(again, "\n"), text)
}

// shorten takes actions out of a history as long as it still violates
// something (delta debugging).
func shorten(h history, limit time.Duration) history {
	end := time.Now().Add(limit)
	bad := func(actions []action) bool {
		broken, _ := history{h.setup, actions}.live(false)
		return len(broken) > 0
	}
	for size := (len(h.actions) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(h.actions) && time.Now().Before(end); {
			less := append(append([]action(nil), h.actions[:at]...), h.actions[min(at+size, len(h.actions)):]...)
			if bad(less) {
				h.actions = less
			} else {
				at += size
			}
		}
	}
	return h
}
