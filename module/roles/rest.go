// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"time"

	flux "flux-burrow/cgo"
)

// Rest gives back memory that is not needed while nothing is to be done, and
// has the Go runtime do nothing either; Wake ends that. Both are nil where there
// is no object of its own to do it for. Neither blocks.
var (
	Rest func(h *flux.Handle)
	Wake func()
)

// restAfter is how long an agent has nothing to do before it rests.
const restAfter = 5 * time.Second

// idler has the agent of a compute node rest after each time of work. The
// leader, and where it is, the scheduler, have no time of rest.
type idler struct {
	*host
	last  time.Time
	awake bool
}

// worked notes that there was something to do.
func (i *idler) worked() {
	if Rest == nil || i.rank == 0 {
		return
	}
	i.last = i.Now()
	if !i.awake {
		i.awake = true
		Wake()
		i.After(restAfter, i.look)
	}
}

func (i *idler) look() {
	if left := restAfter - i.Now().Sub(i.last); left > 0 {
		i.After(left, i.look)
		return
	}
	i.awake = false
	Rest(i.h)
}
