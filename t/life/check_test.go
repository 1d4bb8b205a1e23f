// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/phase"
)

// healed ends all faults and lets the world come to rest: then every job must
// end, and every service must be as idle asks.
func (w *world) healed() {
	w.nodes.heal()
	w.in.StartJobManager()
	for r := range w.Size {
		if !w.in.Up(r) || w.LostAfter > 0 {
			if p := w.in.Parent(r); p >= 0 && w.in.Up(p) {
				w.in.ReturnRank(r)
			}
		}
	}
	w.loadAgents()
	w.undrain()
	w.reloadDWS()
	if !w.pluginUp {
		w.checkGone()
		w.loadPlugin()
	}
	if w.Off {
		on := w.setup
		on.Off = false
		w.reload(on)
	}
	if !w.run(w.in.Idle, 2*time.Minute) {
		w.checkStuck()
		w.checkRunning()
		for _, id := range w.in.Active() {
			_ = w.in.Cancel(id)
		}
		if !w.run(w.in.Idle, time.Minute) {
			w.freeDWS()
		}
		if !w.run(w.in.Idle, 5*time.Minute) {
			for _, id := range w.in.Active() {
				w.violated("G3: %s never ends", jobid.ID(id).String())
			}
		}
	}
}

// checkGone: where the plugin is gone for long, and all agents answer, no hold
// of burrow's is left. G3.
func (w *world) checkGone() {
	if !w.Gone {
		return
	}
	w.advance(time.Minute)
	for _, id := range w.in.Active() {
		j := w.job(id)
		waits := j.holds["dws-setup"] > 0 && !j.env && !j.cleanup
		for _, o := range w.jobs {
			waits = waits || o != j && !o.over && o.holds["dws-setup"]+o.holds["dws-epilog"] > 0
		}
		if !waits && !j.orphaned && j.holds["burrow-prolog"]+j.holds["burrow-epilog"] > 0 && j.stolen == 0 {
			w.violated("G3: %s is held for ever, the plugin is gone", jobid.ID(id).String())
		}
	}
}

// checkRunning: at rest the services on the nodes of a job that runs are as run
// wants them. G4.
func (w *world) checkRunning() {
	for _, id := range w.in.Active() {
		j := w.job(id)
		if !j.running || j.cleanup || w.Shared {
			continue
		}
		for _, r := range j.ranks {
			for _, s := range w.configOn(r).Services {
				if w.current(r) && !s.Up.Has(phase.Run) && w.nodes.up[place{r, s.Unit}] {
					w.violated("G4: %s on rank %d is up while %s runs", s.Unit, r, jobid.ID(id).String())
				}
			}
		}
	}
}

// checkStuck: a minute after the last action, burrow has a reason for each job
// that it still holds, whatever is broken. G3.
func (w *world) checkStuck() {
	for _, id := range w.in.Active() {
		j := w.job(id)
		wanted := false
		for _, o := range w.jobs {
			wanted = wanted || o != j && !o.over && (o.holds["dws-setup"]+o.holds["dws-epilog"] > 0 ||
				o.rabbit && o.alloc && !o.env && !o.cleanup) // one that dws never saw
		}
		switch {
		case wanted, !j.alloc, j.stolen > 0:
		case j.holds["burrow-prolog"] > 0 && (j.cleanup || j.env || !j.rabbit && w.DWS != dwsNone):
			w.violated("G3: %s is stuck in its prolog", jobid.ID(id).String())
		case j.holds["burrow-epilog"] > 0 && j.ended && j.holds["dws-epilog"] == 0:
			w.violated("G3: %s is stuck in its epilog", jobid.ID(id).String())
		}
	}
}

// freeDWS ends holds of dws that its plugin forgot when it was loaded anew.
func (w *world) freeDWS() {
	for _, id := range w.in.Active() {
		for d, n := range w.job(id).holds {
			if n > 0 && d == "dws-setup" {
				w.in.PostEvent(id, "prolog-finish", `{"description":"dws-setup","status":1}`)
			} else if n > 0 && d == "dws-epilog" {
				w.in.PostEvent(id, "epilog-finish", `{"description":"dws-epilog","status":0}`)
			}
		}
	}
}

func (w *world) undrain() {
	var ranks []string
	for r := range w.in.Drained() {
		ranks = append(ranks, fmt.Sprint(r))
	}
	if len(ranks) > 0 {
		sort.Strings(ranks)
		if _, err := w.in.RPC(0, 0, "resource.undrain", fmt.Sprintf(`{"targets":%q}`, strings.Join(ranks, ","))); err != nil {
			w.violated("undrain: %v", err)
		}
	}
}

// check judges the end of a history and gives what was violated in all of it.
func (w *world) check() []string {
	w.checkDrains()
	if w.Sick && w.pluginUp {
		// By now burrow has made up its mind of each failure.
		w.advance(time.Minute)
		w.checkStuck()
	}
	w.healed()
	w.checkHolds()
	if err := w.release(w.allRanks()); err != nil {
		w.violated("release: %v", err)
	}
	// A change that failed is tried again within five minutes.
	w.advance(6 * time.Minute)
	w.checkIdle()
	w.checkDrains()
	for _, l := range w.in.Log() {
		if strings.Contains(l.Text, "BUG:") || l.Level <= 2 {
			w.violated("log: %v", l)
		}
	}
	for _, p := range w.in.Panics() {
		w.violated("panic: %s", p)
	}
	return w.broken
}

// close ends the world, and adds what was leaked.
func (w *world) close() []string {
	w.in.Close()
	for _, l := range w.in.Leaks() {
		w.broken = append(w.broken, "leaked: "+l)
	}
	return w.broken
}

// checkHolds: G3.
func (w *world) checkHolds() {
	for _, id := range w.order {
		if w.job(id).stolen > 0 {
			// Which hold is whose can't be told any more.
			continue
		}
		open := map[string]int{}
		for _, e := range w.in.Eventlog(id) {
			d := gjson.Get(e.Context, "description").Str
			if !strings.HasPrefix(d, "burrow-") {
				continue
			}
			switch e.Name {
			case "prolog-start", "epilog-start":
				open[d]++
			case "prolog-finish", "epilog-finish":
				open[d]--
			}
			if n := open[d]; n < 0 || n > 1 {
				w.violated("G3: %s: %s: %d open after %s", jobid.ID(id).String(), d, n, e.Name)
			}
		}
		for d, n := range open {
			if n != 0 {
				w.violated("G3: %s: %s: %d open at its end", jobid.ID(id).String(), d, n)
			}
		}
	}
}

// checkIdle: G4.
func (w *world) checkIdle() {
	for r := range w.Size {
		for _, s := range w.configOn(r).Services {
			if up := w.nodes.up[place{r, s.Unit}]; up != s.Up.Has(phase.Idle) {
				w.violated("G4: %s on rank %d: up is %t in idle", s.Unit, r, up)
			}
		}
	}
	if n := w.in.Processes(); n > 0 {
		w.violated("G4: %d processes are left", n)
	}
}

// checkDrains: G6.
func (w *world) checkDrains() {
next:
	for _, d := range w.in.Drains() {
		if !w.drains {
			w.violated("G6: rank %d is drained with on-failure %s", d.Rank, w.OnFailure)
			return
		}
		for _, text := range w.blamed[d.Rank] {
			if strings.HasPrefix(d.Reason, "burrow: ") && strings.Contains(d.Reason, text) {
				continue next
			}
		}
		w.violated("G6: rank %d is drained: %q, which is not true of it: %q", d.Rank, d.Reason, w.blamed[d.Rank])
		return
	}
}

// dump writes what a person needs to understand what went wrong.
func (w *world) dump() string {
	var b strings.Builder
	epoch := w.in.Now() - w.in.Elapsed().Seconds()
	type line struct {
		at   float64
		text string
	}
	var lines []line
	for _, l := range w.in.Log() {
		lines = append(lines, line{l.Time - epoch, fmt.Sprintf("%s[%d]: %s", l.From, l.Rank, l.Text)})
	}
	for _, id := range w.order {
		for _, e := range w.in.Eventlog(id) {
			lines = append(lines, line{e.Time - epoch, fmt.Sprintf("%s %s %s", jobid.ID(id).String(), e.Name, e.Context)})
		}
	}
	sort.SliceStable(lines, func(i, k int) bool { return lines[i].at < lines[k].at })
	for _, l := range lines {
		fmt.Fprintf(&b, "%9.3f %s\n", l.at, l.text)
	}
	return b.String()
}
