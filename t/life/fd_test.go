// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"os"
	"testing"
	"time"
)

// No descriptor is left, whatever ends, and how.
func TestDescriptors(t *testing.T) {
	open := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(d)
	}
	for name, do := range map[string]func(w *world){
		"clean":       func(*world) {},
		"agent":       func(w *world) { w.killAgent(1) },
		"job-manager": func(w *world) { w.restartJobManager() },
		"broker":      func(w *world) { w.restartBroker() },
		"rank":        func(w *world) { w.loseRank(1) },
		"plugin":      func(w *world) { w.removePlugin() },
		"heir": func(w *world) {
			id := w.rabbit(2)
			w.run(func() bool { return w.job(id).env }, time.Minute)
			w.removePlugin()
		},
		"reloaded": func(w *world) { w.removePlugin(); w.loadPlugin(); w.reloadAgent(1, 0) },
	} {
		before := open()
		w := newWorld(setup{Seed: 1})
		do(w)
		w.advance(10 * time.Second)
		w.close()
		if after := open(); after != before {
			t.Errorf("%s: %d descriptors before, %d after", name, before, after)
		}
	}
}
