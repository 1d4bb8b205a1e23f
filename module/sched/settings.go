// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"flux-burrow/module/sched/resource"
)

// Settings are what a source of the configuration says, the table or the
// arguments; nil: it says nothing of that.
type Settings struct {
	QueueConfig // for all queues
	Match       *resource.Order
	QueueDepth  *int
	Writer      *Writer
	LogLevel    *Level
	Queues      map[string]QueueConfig
}

// Merge makes a Config of what the table and the arguments say. Arguments win,
// but what the table has for a queue is more special than both: an argument
// speaks of all queues, as the table's own keys do.
func Merge(table, args Settings) Config {
	c := DefaultConfig()
	for _, s := range []Settings{table, args} {
		take(&c.Policy, s.Policy)
		take(&c.Depth, s.Depth)
		take(&c.Match, s.Match)
		take(&c.NodeExclusive, s.NodeExclusive)
		take(&c.QueueDepth, s.QueueDepth)
		take(&c.Writer, s.Writer)
		take(&c.LogLevel, s.LogLevel)
	}
	c.Queues = table.Queues
	return c
}

func take[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
