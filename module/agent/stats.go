// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import "time"

// Stats counts what an agent did since it was loaded. Times are in seconds.
type Stats struct {
	// Sets are wishes for this node, Late those that were older than one
	// already known.
	Sets uint64 `json:"sets"`
	Late uint64 `json:"late"`
	// Changes are starts and stops, Failures those that failed.
	Changes  uint64 `json:"changes"`
	Failures uint64 `json:"failures"`
	// Forwarded are requests sent on to other ranks.
	Forwarded uint64 `json:"forwarded"`
	// Latency is from a wish to its answer on this node.
	Latency Latency `json:"latency"`
}

// Latency sums up a series of times.
type Latency struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

func (s *Stats) add(d time.Duration) {
	l, t := &s.Latency, d.Seconds()
	if l.Count == 0 || t < l.Min {
		l.Min = t
	}
	l.Max = max(l.Max, t)
	l.Count++
	l.Mean += (t - l.Mean) / float64(l.Count)
}
