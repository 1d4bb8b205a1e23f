// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"errors"
	"strings"
	"time"

	"flux-burrow/hooks/config"
)

var errWhen = errors.New(`it takes now, +FSD, HH:MM, "YYYY-MM-DD HH:MM[:SS]" or a time of RFC 3339`)

// local are the forms of a day and time in the local time zone.
var local = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"}

// when reads a point in time. HH:MM is the next time that the clock shows it.
func when(s string, now time.Time) (time.Time, error) {
	if strings.EqualFold(s, "now") {
		return now, nil
	}
	if fsd, ok := strings.CutPrefix(s, "+"); ok {
		d, err := config.ParseFSD(fsd)
		if err != nil || d == 0 && strings.Trim(fsd, "0.smhd") != "" {
			return now, errWhen
		}
		return now.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, form := range local {
		if t, err := time.ParseInLocation(form, s, now.Location()); err == nil {
			return t, nil
		}
	}
	clock, err := time.Parse("15:04", s)
	if err != nil {
		return now, errWhen
	}
	y, m, d := now.Date()
	at := func(day int) time.Time {
		return time.Date(y, m, day, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	if t := at(d); t.After(now) {
		return t, nil
	}
	return at(d + 1), nil
}

// seconds since 1970
func seconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond()/1e6)/1e3
}
