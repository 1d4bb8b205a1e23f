// SPDX-License-Identifier: LGPL-3.0-or-later

package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

var fsdUnits = []struct {
	suffix string
	unit   time.Duration
}{
	{"ms", time.Millisecond},
	{"s", time.Second},
	{"m", time.Minute},
	{"h", time.Hour},
	{"d", 24 * time.Hour},
}

var errFSD = errors.New(`it takes a Flux Standard Duration: a number of 0 or more, then ms, s, m, h or d`)

// ParseFSD reads a Flux Standard Duration (RFC 23): a number, in seconds or
// with a unit. "infinity" gives 0, which stands for no limit.
func ParseFSD(s string) (time.Duration, error) {
	switch strings.ToLower(s) {
	case "inf", "infinity":
		return 0, nil
	}
	number, unit := s, time.Second
	for _, u := range fsdUnits {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			number, unit = rest, u.unit
			break
		}
	}
	if number == "" || strings.ContainsAny(number, "xXpP_iInN") {
		return 0, errFSD
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f < 0 || math.IsNaN(f) {
		return 0, errFSD
	}
	ns := f * float64(unit)
	if ns > float64(math.MaxInt64/2) {
		return 0, nil
	}
	return time.Duration(ns), nil
}
