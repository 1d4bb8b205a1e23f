// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"testing"
	"time"
)

func TestWhen(t *testing.T) {
	zone := time.FixedZone("there", 2*3600)
	now := time.Date(2026, 12, 31, 14, 30, 20, 0, zone)
	for in, want := range map[string]string{
		"now":                       "2026-12-31T14:30:20+02:00",
		"+90":                       "2026-12-31T14:31:50+02:00",
		"+1.5h":                     "2026-12-31T16:00:20+02:00",
		"+2d":                       "2027-01-02T14:30:20+02:00",
		"+0":                        "2026-12-31T14:30:20+02:00",
		"15:00":                     "2026-12-31T15:00:00+02:00",
		"14:30":                     "2027-01-01T14:30:00+02:00",
		"08:05":                     "2027-01-01T08:05:00+02:00",
		"2027-03-04 05:06":          "2027-03-04T05:06:00+02:00",
		"2027-03-04 05:06:07":       "2027-03-04T05:06:07+02:00",
		"2027-03-04T05:06":          "2027-03-04T05:06:00+02:00",
		"2027-03-04T05:06:07Z":      "2027-03-04T05:06:07Z",
		"2027-03-04T05:06:07-08:00": "2027-03-04T05:06:07-08:00",
		"2020-01-01 00:00":          "2020-01-01T00:00:00+02:00",
	} {
		got, err := when(in, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v, want %s", in, got.Format(time.RFC3339), err, want)
		}
	}
	for _, in := range []string{"", "tomorrow", "+", "+x", "+-1", "+inf", "25:00", "12:60", "2027-13-01 00:00", "2027-01-01", "1790000000"} {
		if got, err := when(in, now); err == nil {
			t.Errorf("%q is taken as %s", in, got)
		}
	}
}

func TestSeconds(t *testing.T) {
	if got := seconds(time.Unix(1790000000, 250_400_000)); got != 1790000000.25 {
		t.Errorf("%f", got)
	}
}
