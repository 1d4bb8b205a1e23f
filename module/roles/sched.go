// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"syscall"

	flux "flux-burrow/cgo"
)

// StartScheduler is the scheduler's Start.
func StartScheduler(h *flux.Handle, args []string) (stop func(), err error) {
	return nil, &flux.Error{Num: syscall.ENOSYS, Text: "sched-burrow: not built yet"}
}
