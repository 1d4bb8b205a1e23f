// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

// Stats of messages: what a link of the tree and a rank carried.
type Stats struct {
	Links  []LinkStats // by the rank at the lower end; Links[0] is empty
	Events int         // published; each crosses every link once
}

// LinkStats counts messages on the link from a rank to its parent.
type LinkStats struct {
	DownRequests, DownResponses, DownEvents, DownBytes int
	UpRequests, UpResponses, UpBytes                   int
}

// Messages is their number in both directions.
func (l LinkStats) Messages() int {
	return l.DownRequests + l.DownResponses + l.DownEvents + l.UpRequests + l.UpResponses
}

// Stats gives the counts since the instance was made, or since ResetStats.
func (in *Instance) Stats() Stats {
	s := Stats{Links: make([]LinkStats, len(in.brokers)), Events: in.events}
	for r, b := range in.brokers {
		if r == 0 {
			continue
		}
		s.Links[r] = LinkStats{
			DownRequests: b.down.requests, DownResponses: b.down.responses,
			DownEvents: in.events, DownBytes: b.down.bytes + in.eventBytes,
			UpRequests: b.above.requests, UpResponses: b.above.responses, UpBytes: b.above.bytes,
		}
	}
	return s
}

// AtRank sums up the links of a rank: what its broker handled.
func (s Stats) AtRank(in *Instance, rank int) int {
	n := 0
	if rank > 0 {
		n = s.Links[rank].Messages()
	}
	for _, c := range in.Children(rank) {
		n += s.Links[c].Messages()
	}
	return n
}

// ResetStats starts the counts anew.
func (in *Instance) ResetStats() {
	in.events, in.eventBytes = 0, 0
	for _, b := range in.brokers {
		b.down, b.above = linkCount{}, linkCount{}
	}
}

// count notes a message's way: which 0 is a request, 1 a response.
func (in *Instance) count(from, to, which, bytes int) {
	in.hops(from, to, func(b *broker, down bool) {
		c := &b.above
		if down {
			c = &b.down
		}
		if which == 0 {
			c.requests++
		} else {
			c.responses++
		}
		c.bytes += bytes
	})
}

func (in *Instance) countBoth(from, to int) {
	in.count(from, to, 0, 0)
	in.count(to, from, 1, 0)
}
