// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// endsAlone waits for the end of a job, or of all but its unmount, for which
// nobody brings services up without the plugin.
func (w *world) endsAlone(t *testing.T, id embed.JobID) {
	t.Helper()
	if !w.run(func() bool {
		j := w.job(id)
		return j.over || j.ended && j.holds["dws-epilog"] > 0 && j.holds["burrow-prolog"]+j.holds["burrow-epilog"] == 0
	}, 2*time.Minute) {
		t.Fatalf("it did not end\n%s", w.dump())
	}
}

// The plugin removed in each phase and not loaded again: the job goes on and
// ends, and its tasks have their services down.
func TestPluginGoneInEachPhase(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			each(t, setup{Gone: true}, func(t *testing.T, w *world) {
				id := w.rabbit(4)
				w.reach(t, id, m)
				w.removePlugin()
				if j := w.job(id); !j.start && !j.cleanup {
					if !w.run(func() bool { return j.running }, time.Minute) {
						t.Fatalf("it does not start\n%s", w.dump())
					}
					if up := w.upOn(); len(up) > 0 {
						t.Errorf("it starts with services up on %v", up)
					}
				}
				w.endsAlone(t, id)
				if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
					t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
				}
			})
		})
	}
}

// Loaded and removed before it has read the jobs: what an earlier load holds is
// let go of all the same.
func TestPluginGoneBeforeItReads(t *testing.T) {
	for _, m := range moments {
		for _, r := range []struct {
			name string
			do   func(w *world)
		}{
			{"job-manager", func(w *world) { w.restartJobManager() }},
			{"broker", func(w *world) { w.restartBroker() }},
			{"plugin", func(w *world) { w.removePlugin(); w.loadPlugin() }},
		} {
			for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
				t.Run(m.name+"/"+r.name+"/"+wait.String(), func(t *testing.T) {
					each(t, setup{Gone: true}, func(t *testing.T, w *world) {
						id := w.rabbit(4)
						w.reach(t, id, m)
						r.do(w)
						w.advance(wait)
						w.removePlugin()
						w.endsAlone(t, id)
						if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
							t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
						}
					})
				})
			}
		}
	}
}

// One job waits for another's mount on shared nodes when the plugin is removed:
// it starts when that mount is over, or ends when it is cancelled.
func TestPluginGoneWhileAnotherMounts(t *testing.T) {
	for _, other := range []string{"mounts", "is cancelled", "goes on"} {
		t.Run(other, func(t *testing.T) {
			each(t, setup{Shared: true, Gone: true}, func(t *testing.T, w *world) {
				mounting := w.rabbit(2)
				w.noEnv[mounting] = true
				w.reach(t, mounting, moments[0])
				id := w.submit(embed.Jobspec{Nodes: 4, Run: 300 * time.Millisecond})
				w.run(func() bool { return w.job(id).holds["burrow-prolog"] > 0 }, time.Minute)
				w.advance(200 * time.Millisecond)
				w.removePlugin()
				w.advance(5 * time.Second)
				if w.job(id).running || w.job(id).over || !w.nodes.mountable(w.job(mounting).ranks) {
					t.Fatalf("it does not wait, or the other's mount was cut off\n%s", w.dump())
				}
				switch other {
				case "mounts":
					w.dws.Environment(mounting)
				case "is cancelled":
					_ = w.in.Cancel(mounting)
				case "goes on":
					_ = w.in.Cancel(id)
				}
				w.endsAlone(t, id)
				if other != "goes on" && len(w.exceptions(id)) > 0 {
					t.Errorf("exceptions %v", w.exceptions(id))
				}
			})
		})
	}
}

// An agent that is reloaded meanwhile is no reason to end the job.
func TestPluginGoneAndAgentReloaded(t *testing.T) {
	each(t, setup{Gone: true}, func(t *testing.T, w *world) {
		id := w.rabbit(4)
		w.reach(t, id, moments[1])
		w.removePlugin()
		w.reloadAgent(2, 300*time.Millisecond)
		w.endsAlone(t, id)
		if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
			t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
		}
	})
}

// As many nodes may fail as tolerate says, without the plugin too.
func TestPluginGoneAndNodeFails(t *testing.T) {
	for tolerate := range 2 {
		each(t, setup{Gone: true, Tolerate: tolerate}, func(t *testing.T, w *world) {
			id := w.rabbit(4)
			w.reach(t, id, moments[0])
			w.nodes.set(fault{place{2, theUnit}, "stop"}, fails)
			w.reach(t, id, moments[1])
			w.removePlugin()
			w.endsAlone(t, id)
			if x := w.exceptions(id); len(x) != 1-tolerate {
				t.Errorf("tolerate %d: exceptions %v", tolerate, x)
			}
		})
	}
}

// The dws plugin removed in each phase, and loaded again or not: where dws holds
// nothing the job ends well; burrow holds it no longer than dws does.
func TestDWSGoneInEachPhase(t *testing.T) {
	for _, m := range moments {
		for _, back := range []string{"at once", "soon", "late"} {
			t.Run(m.name+"/"+back, func(t *testing.T) {
				each(t, setup{}, func(t *testing.T, w *world) {
					id := w.rabbit(4)
					w.reach(t, id, m)
					w.removeDWS()
					switch back {
					case "soon":
						w.advance(20 * time.Millisecond)
					case "late":
						w.advance(10 * time.Second)
						j := w.job(id)
						if dws := j.holds["dws-setup"] + j.holds["dws-epilog"]; !j.over && dws == 0 {
							t.Errorf("it does not end\n%s", w.dump())
						}
					}
					w.reloadDWS()
					w.ends(t, id)
					if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
						t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
					}
				})
			})
		}
	}
}

// A cancel after dws was loaded anew: its hold of the prolog is nobody's, ours
// is not held beside it.
func TestCancelAfterDWSReload(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			each(t, setup{}, func(t *testing.T, w *world) {
				id := w.rabbit(4)
				w.reach(t, id, m)
				w.removeDWS()
				w.reloadDWS()
				_ = w.in.Cancel(id)
				w.advance(time.Minute)
				if j := w.job(id); j.holds["burrow-prolog"]+j.holds["burrow-epilog"] > 0 {
					t.Errorf("held\n%s", w.dump())
				}
			})
		})
	}
}

// A reload of the configuration in each phase: one that changes services, with
// what is to be in the end, and ones that are refused.
func TestReloadInEachPhase(t *testing.T) {
	idle := []service{{theUnit, `"idle", "mount", "unmount"`}}
	for _, m := range moments {
		for name, do := range map[string]func(w *world){
			"up in idle":   func(w *world) { w.reload(setup{Services: idle}) },
			"no status":    func(w *world) { w.reload(setup{NoStatus: true}) },
			"raise":        func(w *world) { w.reload(setup{OnFailure: "raise", Tolerate: 1}) },
			"refused":      func(w *world) { w.badReload(0) },
			"taken back":   func(w *world) { w.badReload(2) },
			"housekeeping": func(w *world) { w.badReload(3) },
			"there, again": func(w *world) { w.reload(setup{Services: idle}); w.reload(setup{}) },
		} {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				each(t, setup{}, func(t *testing.T, w *world) {
					id := w.rabbit(4)
					w.reach(t, id, m)
					do(w)
					w.ends(t, id)
					if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 {
						t.Errorf("exceptions %v, drained %v\n%s", x, w.in.Drained(), w.dump())
					}
					w.advance(5 * time.Second)
					w.checkIdle()
				})
			})
		}
	}
}

// A job without a rabbit that was let through has its services down too, when
// the configuration then has them up in idle.
func TestReloadUnderJob(t *testing.T) {
	each(t, setup{}, func(t *testing.T, w *world) {
		w.submit(embed.Jobspec{Nodes: 2, Exclusive: true, Run: embed.Forever})
		w.advance(time.Second)
		w.reload(setup{Services: []service{{theUnit, `"idle", "mount", "unmount"`}}})
		w.advance(2 * time.Second)
		w.checkRunning()
		if up := w.upOn(); len(up) != 2 {
			t.Errorf("up on %v, where no job is they should be", up)
		}
	})
}

// Another plugin that finishes one of its own holds twice ends none of ours.
func TestStolenInEachPhase(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			each(t, setup{}, func(t *testing.T, w *world) {
				id := w.rabbit(4)
				w.reach(t, id, m)
				w.steal(id)
				w.ends(t, id)
			})
		})
	}
}
