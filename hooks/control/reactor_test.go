// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"sync/atomic"
	"testing"
	"time"
)

// reactor stands for the broker's: functions that were posted run one at a
// time, on one goroutine.
type reactor struct {
	queue chan func()
	// inside is set while a function runs: what else is called on the
	// reactor's thread is called by run.
	inside atomic.Bool
	count  atomic.Int64
}

func newReactor(t *testing.T) *reactor {
	r := &reactor{queue: make(chan func(), 1000)}
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case f := <-r.queue:
				r.inside.Store(true)
				f()
				r.inside.Store(false)
				r.count.Add(1)
			case <-quit:
				return
			}
		}
	}()
	t.Cleanup(func() { close(quit); <-done })
	return r
}

func (r *reactor) post(f func()) {
	select {
	case r.queue <- f:
	default:
		panic("the reactor's queue is full")
	}
}

// run calls f on the reactor's thread and waits for it.
func (r *reactor) run(f func()) {
	done := make(chan struct{})
	r.post(func() { f(); close(done) })
	<-done
}

// waitLimit is the limit of a wait in a test for what should be at once.
const waitLimit = 20 * time.Second

func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(waitLimit):
		t.Fatalf("nothing came in %s", waitLimit)
		panic("not reached")
	}
}
