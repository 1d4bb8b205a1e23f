// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// duration writes a time for a person, three figures or so.
func duration(seconds float64) string {
	switch {
	case seconds < 9.9995:
		return fmt.Sprintf("%.3fs", seconds)
	case seconds < 59.95:
		return fmt.Sprintf("%.1fs", seconds)
	case seconds < 3600-0.5:
		n := int(math.Round(seconds))
		return fmt.Sprintf("%dm%02ds", n/60, n%60)
	case seconds < 86400-30:
		n := int(math.Round(seconds / 60))
		return fmt.Sprintf("%dh%02dm", n/60, n%60)
	case seconds < 1e12:
		n := int64(math.Round(seconds / 3600))
		return fmt.Sprintf("%dd%02dh", n/24, n%24)
	}
	return fmt.Sprintf("%.3gs", seconds)
}

// offset writes the label of a tick, t seconds after the begin, as exactly as
// ticks that are step apart need it.
func offset(t, step float64) string {
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	if t < 60 || t >= 1e12 {
		return strconv.FormatFloat(t, 'f', decimals, 64) + "s"
	}
	whole := math.Floor(t + 1e-9)
	n := int64(whole)
	var b strings.Builder
	for _, u := range []struct {
		name string
		size int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}} {
		if n >= u.size {
			fmt.Fprintf(&b, "%d%s", n/u.size, u.name)
			n %= u.size
		}
	}
	seconds := float64(n) + max(t-whole, 0)
	if seconds >= step/2 {
		b.WriteString(strconv.FormatFloat(seconds, 'f', decimals, 64) + "s")
	}
	return b.String()
}
