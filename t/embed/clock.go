// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"container/heap"
	"time"
)

// timer is an entry of the instance's one list of times. Its task runs when
// nothing else can and its time is the nearest.
type timer struct {
	at    time.Duration
	seq   uint64
	index int // in the heap, -1 when not armed
	t     task
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *timers) Push(x any) {
	e := x.(*timer)
	e.index = len(*t)
	*t = append(*t, e)
}
func (t *timers) Pop() any {
	old := *t
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	e.index = -1
	return e
}

// arm has t's task run at a time from now.
func (in *Instance) arm(t *timer, after time.Duration) {
	in.disarm(t)
	if after < 0 {
		after = 0
	}
	in.seq++
	// Which of two timers of one moment a reactor runs first is open.
	seq := in.seq
	if in.random() {
		seq = in.rng.Uint64()
	}
	t.at, t.seq = in.Elapsed()+after, seq
	heap.Push(&in.timers, t)
}

func (in *Instance) disarm(t *timer) {
	if t.armed() {
		heap.Remove(&in.timers, t.index)
		t.index = -1
	}
}

func (t *timer) armed() bool { return t.seq != 0 && t.index >= 0 }

// after runs fn once, for the instance's own parts.
func (in *Instance) after(owner *Handle, d time.Duration, fn func()) *timer {
	t := &timer{index: -1, t: task{owner: owner, fn: fn}}
	in.arm(t, d)
	return t
}

// Elapsed is the virtual time since the instance was made.
func (in *Instance) Elapsed() time.Duration {
	if in.opts.RealTime {
		return time.Since(in.born)
	}
	return in.now
}

// Now is the time as flux_reactor_now(3) gives it: seconds since the epoch.
func (in *Instance) Now() float64 { return in.epoch + in.Elapsed().Seconds() }

func seconds(s float64) time.Duration {
	if s > 1e9 {
		s = 1e9
	}
	return time.Duration(s * float64(time.Second))
}
