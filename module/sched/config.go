// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"strconv"
	"strings"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
)

// MaxDepth is the largest queue-depth (RFC 27, Ready).
const MaxDepth = 1<<31 - 1

// Config is what the module's arguments say.
type Config struct {
	Policy policy.Kind
	Match  resource.Order
	// QueueDepth is how many alloc requests the job manager may have open; 0
	// for no limit.
	QueueDepth int
	Writer     Writer
	// LogLevel is the least severe level that is logged.
	LogLevel Level
}

// DefaultConfig is a Config where no arguments are given.
func DefaultConfig() Config { return Config{LogLevel: Info} }

var levels = map[string]Level{
	"err": Err, "error": Err, "warning": Warning, "info": Info, "debug": Debug,
}

// ParseArgs reads module arguments: policy=fifo|easy|conservative,
// match=first|best|worst, queue-depth=N|unlimited, writer=rv1exec|rv1,
// log-level=err|warning|info|debug. The last of a kind wins. The error names the argument.
func ParseArgs(args []string) (Config, error) {
	c := DefaultConfig()
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "policy":
			c.Policy, err = policy.Parse(value)
		case "match":
			c.Match, err = resource.ParseOrder(value)
		case "queue-depth":
			c.QueueDepth, err = depth(value)
		case "writer":
			c.Writer, err = parseWriter(value)
		case "log-level":
			level, ok := levels[strings.ToLower(value)]
			if !ok {
				err = fmt.Errorf("log-level=%q is none of err, warning, info, debug", value)
			}
			c.LogLevel = level
		default:
			err = fmt.Errorf("unknown argument %q: there are policy=, match=, queue-depth=, writer=, log-level=", arg)
		}
		if err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

func depth(s string) (int, error) {
	if s == "unlimited" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("queue-depth=%q is neither a number in 1-%d nor unlimited", s, MaxDepth)
	}
	return int(n), nil
}
