// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import flux "flux-burrow/cgo"

// Start sets a module up on its handle. stop is called when the module's
// reactor has ended.
type Start func(h *flux.Handle, args []string) (stop func(), err error)

// Run is the life of a module: it returns when the broker unloads it.
func Run(h *flux.Handle, args []string, start Start) error {
	stop, err := start(h, args)
	if err != nil {
		return err
	}
	defer stop()
	return h.Run()
}
