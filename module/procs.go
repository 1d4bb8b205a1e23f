// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"os"
	"runtime"
	"sync"
)

// Go would take every core of the node for itself: goroutines that wake
// another thread where the next turn of this one would do, and collections of
// garbage on a quarter of the cores, under a job that has them all. What runs
// here is small, so there is one thread at a time for each kind of role in the
// process, which is one on a compute node.
var procs struct {
	sync.Mutex
	roles map[string]bool
}

// limitProcs makes room for a kind of role. The environment's GOMAXPROCS goes
// first.
func limitProcs(role string) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	procs.Lock()
	defer procs.Unlock()
	if procs.roles == nil {
		procs.roles = map[string]bool{}
	}
	procs.roles[role] = true
	runtime.GOMAXPROCS(min(runtime.NumCPU(), len(procs.roles)))
}
