// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
)

// A job of which the job manager has an R from before a restart is never
// answered with another; those beside it are scheduled.
func TestStaleR(t *testing.T) {
	f := start(t, inventoryOf(4, 4, 0, ""), false)
	f.unload()
	f.now = 100
	a, b, c := f.submit(nodesSpec(2, 0, "")), f.submit(nodesSpec(2, 0, "")), f.submit(nodesSpec(2, 0, ""))
	asked := map[jobid.ID]int{}
	f.services["job-manager.getattr"] = func(p string, reply func(string, error)) {
		id := jobid.ID(gjson.Get(p, "id").Uint())
		asked[id]++
		if id == a.id {
			reply(`{"R":{"version":1}}`, nil)
			return
		}
		reply("", syscall.ENOENT)
	}
	f.load()
	f.run()
	if !strings.Contains(a.denied, "submit it again") || !b.running || !c.running {
		t.Errorf("denied %q, the others run: %t, %t", a.denied, b.running, c.running)
	}
	for id, n := range asked {
		if n != 1 {
			t.Errorf("%s was asked about %d times", id, n)
		}
	}
	if len(asked) != 3 {
		t.Errorf("%d jobs were asked about, 3 are older than the scheduler", len(asked))
	}
	f.verify()
}
