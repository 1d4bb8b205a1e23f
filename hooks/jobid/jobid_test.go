// SPDX-License-Identifier: LGPL-3.0-or-later

package jobid

import "testing"

func TestForms(t *testing.T) {
	tests := []struct {
		id   ID
		f58  string
		key  string
		text string
	}{
		{0, "ƒ1", "job.0000.0000.0000.0000.R", "0"},
		{57, "ƒz", "job.0000.0000.0000.0039.R", "57"},
		{25132269568, "ƒfHrT9Z", "job.0000.0005.da00.0000.R", "25132269568"},
		{1<<64 - 1, "ƒjpXCZedGfVQ", "job.ffff.ffff.ffff.ffff.R", "18446744073709551615"},
	}
	for _, tt := range tests {
		if got := tt.id.String(); got != tt.f58 {
			t.Errorf("%d: F58 is %s, want %s", tt.id, got, tt.f58)
		}
		if got := tt.id.Key("R"); got != tt.key {
			t.Errorf("%d: key is %s, want %s", tt.id, got, tt.key)
		}
		if got := tt.id.Decimal(); got != tt.text {
			t.Errorf("%d: decimal is %s, want %s", tt.id, got, tt.text)
		}
	}
}
