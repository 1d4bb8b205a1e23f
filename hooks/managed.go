// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"encoding/json"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// managedKey has the ranks that had an agent at some time. What an agent left
// up stays up when both it and the plugin are gone; without this a job there
// would start beside it, since where there never was an agent burrow has
// nothing to say.
const managedKey = "burrow.managed"

// manage notes that ranks have or had an agent.
func (h *Hooks) manage(ranks *idset.Set) {
	h.present.AddSet(ranks)
	h.gone.RemoveSet(ranks)
	if h.managed.ContainsAll(ranks) {
		return
	}
	h.managed.AddSet(ranks)
	if h.storing {
		return
	}
	h.storing = true
	h.after(verifyDelay, func() {
		h.storing = false
		h.host.Store(managedKey, wire.Encode(h.managed))
	})
}

func (h *Hooks) loadManaged(done func()) {
	h.host.Load(managedKey, func(value string, err error) {
		if h.closed {
			return
		}
		if err == nil && value != "" {
			ranks := idset.New()
			if err = json.Unmarshal([]byte(value), ranks); err == nil {
				ranks.RemoveRange(int(h.host.Size()), idset.MaxID)
				h.managed.AddSet(ranks)
			}
		}
		if err != nil {
			h.fault("%s: %v: it is made anew", managedKey, err)
		}
		done()
	})
}
