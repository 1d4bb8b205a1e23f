// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"reflect"
)

// Configure has the engine go by another configuration from now on. With an
// error it goes on by the one that it has. What jobs hold is not touched.
func (e *Engine) Configure(c Config) error {
	if reflect.DeepEqual(c, e.config) {
		return nil
	}
	e.finishPass()
	old := e.config
	if e.pool != nil && c.Writer != old.Writer {
		s, err := newScribe(c.Writer, e.pool.Inventory())
		if err != nil {
			return fmt.Errorf("%s.%w", tableName, err)
		}
		e.scribe = s
	}
	e.config = c
	e.log(Info, "configuration: %s", c)
	if c.QueueDepth != old.QueueDepth {
		e.announceDepth()
	}
	e.queue.Forget()
	e.loosen()
	return nil
}

// announceDepth tells the job manager of another queue-depth. It takes a second
// sched-ready: the limit is all that it changes, requests that are open stay
// open, also those above a lower limit. Before the first nothing is to be done.
func (e *Engine) announceDepth() {
	if e.phase != Announce && e.phase != Ready {
		return
	}
	depth := e.config.QueueDepth
	e.host.Call("job-manager.sched-ready", readyMode(depth), func(_ string, err error) {
		if err != nil && e.phase != Stopped {
			e.log(Err, "job-manager.sched-ready: %s: queue-depth=%s does not hold before the next load", err, limitText(depth))
		}
	})
}
