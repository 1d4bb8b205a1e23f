// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
)

// MaxDepth is the largest queue-depth (RFC 27, Ready).
const MaxDepth = 1<<31 - 1

// Config is what the engine goes by: the table [sched-burrow] and the module's
// arguments, see Merge.
type Config struct {
	Policy policy.Kind
	// Depth is the reservation-depth: policy.DepthDefault, policy.DepthAll or a
	// number. PolicyOf, DepthOf and ExclusiveOf say what holds for a queue.
	Depth         int
	Match         resource.Order
	NodeExclusive NodeExclusive
	// QueueDepth is how many alloc requests the job manager may have open; 0
	// for no limit.
	QueueDepth int
	Writer     Writer
	// LogLevel is the least severe level that is logged.
	LogLevel Level
	// Queues has the queues for which something else holds; nil for none.
	Queues map[string]QueueConfig
}

// QueueConfig is what may be set for all and for one queue; nil: is not set.
type QueueConfig struct {
	Policy        *policy.Kind
	Depth         *int
	NodeExclusive *NodeExclusive
}

// NodeExclusive says which nodes are given out whole.
type NodeExclusive struct {
	All        bool
	Properties []string // those with one of these; without All only
}

// DefaultConfig is a Config where nothing is set.
func DefaultConfig() Config { return Config{Depth: policy.DepthDefault, LogLevel: Info} }

// PolicyOf returns the policy of a queue; "" for jobs without one.
func (c Config) PolicyOf(queue string) policy.Kind {
	if q := c.Queues[queue]; q.Policy != nil {
		return *q.Policy
	}
	return c.Policy
}

// DepthOf returns how many jobs of a queue get a reservation: 0 or more,
// policy.DepthAll for all.
func (c Config) DepthOf(queue string) int {
	depth := c.Depth
	if q := c.Queues[queue]; q.Depth != nil {
		depth = *q.Depth
	}
	return policy.Depth(c.PolicyOf(queue), depth)
}

// ExclusiveOf returns which nodes a job of a queue is given whole.
func (c Config) ExclusiveOf(queue string) NodeExclusive {
	if q := c.Queues[queue]; q.NodeExclusive != nil {
		return *q.NodeExclusive
	}
	return c.NodeExclusive
}

// String gives all that is set, in the words of the configuration.
func (c Config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy=%s match=%s reservation-depth=%s node-exclusive=%s queue-depth=%s writer=%s log-level=%s",
		c.Policy, c.Match, depthText(c.DepthOf("")), c.NodeExclusive, limitText(c.QueueDepth), c.Writer, c.LogLevel)
	for _, name := range slices.Sorted(maps.Keys(c.Queues)) {
		fmt.Fprintf(&b, "; queue %s: policy=%s reservation-depth=%s node-exclusive=%s",
			name, c.PolicyOf(name), depthText(c.DepthOf(name)), c.ExclusiveOf(name))
	}
	return b.String()
}

func (n NodeExclusive) String() string {
	if len(n.Properties) > 0 {
		return strings.Join(n.Properties, ",")
	}
	return strconv.FormatBool(n.All)
}

// MarshalJSON gives true, false or a list, as the configuration has it.
func (n NodeExclusive) MarshalJSON() ([]byte, error) {
	if len(n.Properties) > 0 {
		return json.Marshal(n.Properties)
	}
	return json.Marshal(n.All)
}

// depthText is a reservation-depth as the configuration has it.
type depthText int

func (d depthText) String() string {
	if d == policy.DepthAll {
		return "all"
	}
	return strconv.Itoa(int(d))
}

// MarshalJSON gives a number or "all".
func (d depthText) MarshalJSON() ([]byte, error) {
	if d == policy.DepthAll {
		return []byte(`"all"`), nil
	}
	return []byte(d.String()), nil
}

// limitText is a queue-depth in words.
func limitText(n int) string {
	if n == 0 {
		return "unlimited"
	}
	return strconv.Itoa(n)
}
