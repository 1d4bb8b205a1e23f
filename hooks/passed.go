// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"maps"
	"slices"

	"flux-burrow/rv1reader/idset"
)

// passed is an active job that was let through without a window: it has no
// rabbit and run is as idle, or the hooks are not enabled. Under another
// configuration it may need one: with a service that is up in idle, nodes that
// know of no job would start it under the job's tasks.
type passed struct {
	rabbit bool
	ranks  *idset.Set
}

// takePassed gives those jobs their windows, as a load of the plugin does.
func (h *Hooks) takePassed() {
	for _, id := range slices.Sorted(maps.Keys(h.passed)) {
		if h.windows[id] == nil {
			h.resumeLater(id, h.passed[id].rabbit, h.passed[id].ranks)
		}
	}
	clear(h.passed)
}
