// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import "testing"

func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		kind             Kind
		configured, want int
	}{
		{FIFO, DepthDefault, 1},
		{Easy, DepthDefault, 1},
		{Conservative, DepthDefault, DepthAll},
		{FIFO, 0, 0},
		{Easy, 7, 7},
		{Easy, DepthAll, DepthAll},
		{Conservative, 0, 0},
		{Conservative, 3, 3},
	} {
		if got := Depth(tt.kind, tt.configured); got != tt.want {
			t.Errorf("%s, %d: %d, want %d", tt.kind, tt.configured, got, tt.want)
		}
	}
}
