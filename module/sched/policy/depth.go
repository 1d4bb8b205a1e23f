// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import "math"

// Values of reservation-depth besides plain numbers.
const (
	DepthDefault = -1            // what the policy has by itself
	DepthAll     = math.MaxInt32 // every job that does not fit
)

// Depth returns how many jobs of a queue get a reservation under a policy.
// With fifo the one is for the head of the queue, which it keeps jobs of other
// queues on the same nodes from delaying.
func Depth(k Kind, configured int) int {
	switch {
	case configured != DepthDefault:
		return configured
	case k == Conservative:
		return DepthAll
	}
	return 1
}
