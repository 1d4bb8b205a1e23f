// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import "math"

// Values of reservation-depth that are no number of jobs.
const (
	DepthDefault = -1            // what goes with the policy
	DepthAll     = math.MaxInt32 // every job
)

// Depth returns how many jobs of a queue have a reservation at a time.
func Depth(k Kind, configured int) int {
	switch {
	case configured != DepthDefault:
		return configured
	case k == Conservative:
		return DepthAll
	}
	return 1
}
