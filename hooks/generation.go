// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"encoding/json"
	"time"

	"flux-burrow/hooks/wire"
)

// Generations grow over all loads of the hooks, whatever the clock does: an
// agent that outlived the hooks takes a lower one for late, and answers it as
// if all were well. They are microseconds since the epoch where that is above
// all earlier ones. A bound above all that were given is in the KVS.
const (
	boundKey  = "burrow.generation"
	boundStep = uint64(time.Hour / time.Microsecond)
)

// nextGen gives a generation above all that this load and earlier ones gave.
func (h *Hooks) nextGen() uint64 {
	h.lastGen = max(h.lastGen+1, uint64(max(h.host.Now().UnixMicro(), 1)))
	if h.lastGen > h.bound {
		h.bound = h.lastGen + boundStep
		h.host.Store(boundKey, wire.Encode(h.bound))
	}
	return h.lastGen
}

func (h *Hooks) loadBound(done func()) {
	h.host.Load(boundKey, func(value string, err error) {
		if h.closed {
			return
		}
		if err == nil && value != "" {
			err = json.Unmarshal([]byte(value), &h.lastGen)
		}
		if err != nil {
			h.fault("%s: %v: the clock alone tells what is new", boundKey, err)
		}
		done()
	})
}

// loaded is called when one of the keys is there that wishes depend on. Only
// then are jobs looked at.
func (h *Hooks) loaded() {
	if h.loading--; h.loading > 0 {
		return
	}
	// lastGen is the bound of an earlier load: the next is above it.
	h.floor = h.nextGen()
	for _, w := range h.sorted() {
		if later := w.later; later != nil {
			w.later = nil
			later()
		}
	}
	h.loadKept(h.read)
	for _, id := range h.queue[:min(len(h.queue), maxReading)] {
		h.startReading(id)
	}
}
