// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/t/embed"
)

func field(e embed.Event, key string) string { return gjson.Get(e.Context, key).Str }

func (w *world) upOn() (ranks []int) {
	for r := range w.Size {
		if w.nodes.up[place{r, theUnit}] {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func TestCleanRun(t *testing.T) {
	each(t, setup{}, func(t *testing.T, w *world) {
		id := w.rabbit(4)
		for _, m := range moments {
			w.reach(t, id, m)
			if n := len(w.upOn()); m.name == "run" && n != 0 || (m.name == "mount" || m.name == "unmount") && n != 4 {
				t.Errorf("%s: up on %d ranks", m.name, n)
			}
		}
		w.ends(t, id)
		if x := w.exceptions(id); len(x) > 0 || len(w.in.Drained()) > 0 || len(w.upOn()) > 0 {
			t.Errorf("exceptions %v, drained %v, up on %v", x, w.in.Drained(), w.upOn())
		}
	})
}

// A job with no rabbit on clean nodes: no message, no process, no hold. G5.
func TestNonRabbitCostsNothing(t *testing.T) {
	for _, dws := range []dwsOrder{dwsFirst, dwsNone} {
		each(t, setup{DWS: dws}, func(t *testing.T, w *world) {
			procs := w.nodes.procs
			w.in.ResetStats()
			id := w.submit(embed.Jobspec{Nodes: 4, Exclusive: true, Run: 100 * time.Millisecond})
			w.ends(t, id)
			for r, l := range w.in.Stats().Links {
				if n := l.DownRequests + l.UpRequests + l.DownResponses + l.UpResponses; n > 0 {
					t.Errorf("%d messages on the link of rank %d", n, r)
				}
			}
			if n := w.nodes.procs - procs; n != 0 {
				t.Errorf("%d processes", n)
			}
			for _, e := range w.in.Eventlog(id) {
				if strings.HasPrefix(field(e, "description"), "burrow") {
					t.Errorf("%s %s", e.Name, e.Context)
				}
			}
		})
	}
}

func TestEnvironmentTimeout(t *testing.T) {
	each(t, setup{EnvTimeout: 2 * time.Second}, func(t *testing.T, w *world) {
		id := w.rabbit(2)
		w.noEnv[id] = true
		w.ends(t, id)
		if x := w.exceptions(id); !slices.Equal(x, []string{"burrow-timeout"}) {
			t.Errorf("exceptions %v", x)
		}
	})
}

// A rabbit job where nobody posts dws_environment, since dws is not there.
func TestNoDWS(t *testing.T) {
	each(t, setup{DWS: dwsNone}, func(t *testing.T, w *world) {
		id := w.rabbit(2)
		w.advance(time.Minute)
		if w.job(id).running || w.job(id).holds["burrow-prolog"] != 1 {
			t.Error("it does not wait")
		}
		_ = w.in.Cancel(id)
		w.ends(t, id)
	})
}

// A service that fails, by policy: who is drained, why, and what becomes of
// the job.
func TestServiceFails(t *testing.T) {
	for _, c := range []struct {
		on       string
		tolerate int
		verb     string
		how      mishap
		ends     string // type of the job's exception, "" for none
	}{
		{"drain", 0, "stop", fails, "burrow-services"},
		{"drain", 1, "stop", fails, ""},
		{"drain", 0, "start", fails, "burrow-services"},
		{"drain", 0, "stop", hangs, "burrow-services"},
		{"drain", 0, "stop", hangsHard, "burrow-services"},
		{"drain", 0, "stop", slow, ""},
		{"raise", 0, "stop", fails, "burrow-services"},
		{"raise", 1, "stop", fails, ""},
		{"ignore", 0, "stop", fails, ""},
		{"ignore", 0, "stop", hangs, ""},
	} {
		t.Run(fmt.Sprintf("%s,%d,%s,%s", c.on, c.tolerate, c.verb, c.how), func(t *testing.T) {
			each(t, setup{OnFailure: c.on, Tolerate: c.tolerate}, func(t *testing.T, w *world) {
				w.nodes.set(fault{place{2, theUnit}, c.verb}, c.how)
				id := w.rabbit(4)
				if !w.run(func() bool { return w.job(id).running || w.job(id).cleanup }, time.Minute) {
					t.Fatal("it neither runs nor ends")
				}
				w.in.Settle()
				var want []string
				if c.ends != "" {
					want = []string{c.ends}
				}
				if x := w.exceptions(id); !slices.Equal(x, want) {
					t.Errorf("exceptions %v, want %v", x, want)
				}
				drained := w.in.Drained()
				reason, is := drained[2]
				if shall := c.on == "drain" && c.how != slow; is != shall || len(drained) > 1 {
					t.Errorf("drained %v", drained)
				}
				if is && (!strings.Contains(reason, c.verb) || !strings.Contains(reason, theUnit) ||
					c.how == fails && !strings.Contains(reason, refusal(fault{place{2, theUnit}, c.verb}))) {
					t.Errorf("the reason is %q", reason)
				}
			})
		})
	}
}

// A configuration that is refused changes nothing, whoever refuses it, though
// the plugin may have had it already.
func TestRefusedConfiguration(t *testing.T) {
	for n := range 5 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			each(t, setup{Tolerate: 2}, func(t *testing.T, w *world) {
				w.badReload(n) // with tolerate = 0, where it is about others
				w.advance(time.Second)
				w.nodes.set(fault{place{2, theUnit}, "stop"}, fails)
				id := w.rabbit(4)
				w.ends(t, id)
				if x := w.exceptions(id); len(x) > 0 {
					t.Errorf("exceptions %v", x)
				}
			})
		})
	}
}

func TestAgentMissing(t *testing.T) {
	each(t, setup{}, func(t *testing.T, w *world) {
		w.advance(time.Minute)
		w.unloadAgent(2)
		start := w.now()
		id := w.rabbit(4)
		w.run(func() bool { return w.job(id).cleanup }, time.Minute)
		w.in.Settle()
		// It might have been a reload.
		if took := w.now() - start; took > 2500*time.Millisecond {
			t.Errorf("it took %v to be known", took)
		}
		if x, d := w.exceptions(id), w.in.Drained(); !slices.Equal(x, []string{"burrow-services"}) ||
			len(d) != 1 || d[2] != "burrow: burrow agent is not loaded" {
			t.Errorf("exceptions %v, drained %v", x, d)
		}
	})
}

// A broker that was killed, which nobody has noticed: the wish that finds it
// has no answer from the overlay (TestFinder of t/embed). All the same it is
// known to be lost, and not one that takes its time.
func TestKilledBroker(t *testing.T) {
	for _, at := range []string{"before", "mount", "run"} {
		t.Run(at, func(t *testing.T) {
			each(t, setup{LostAfter: time.Hour}, func(t *testing.T, w *world) {
				w.advance(time.Minute)
				if at == "before" {
					w.loseRank(2)
				}
				id := w.rabbit(4)
				for _, m := range moments {
					if m.name == at {
						w.reach(t, id, m)
						w.loseRank(2)
					}
				}
				w.run(func() bool { return w.in.Drained()[2] != "" }, time.Minute)
				if d := w.in.Drained(); len(d) != 1 || !strings.Contains(d[2], "lost contact") {
					t.Errorf("drained %v", d)
				}
			})
		})
	}
}

// An unmount that is given up keeps the services, over a restart too, until
// the next window there or a release.
func TestGivenUp(t *testing.T) {
	for _, next := range []string{"release", "rabbit", "other"} {
		for _, between := range []string{"nothing", "job-manager", "broker", "plugin", "agents"} {
			t.Run(next+"/"+between, func(t *testing.T) {
				each(t, setup{}, func(t *testing.T, w *world) {
					id := w.rabbit(2)
					w.giveUp[id] = true
					w.ends(t, id)
					w.advance(time.Second)
					switch between {
					case "job-manager":
						w.restartJobManager()
					case "broker":
						w.restartBroker()
					case "plugin":
						w.removePlugin()
						w.loadPlugin()
					case "agents":
						w.killAgent(0)
						w.killAgent(1)
						w.loadAgents()
					}
					w.advance(5 * time.Second)
					if up := w.upOn(); !slices.Equal(up, []int{0, 1}) {
						t.Fatalf("up on %v\n%s", up, w.dump())
					}
					if n := strings.Count(w.dump(), "its unmount was given up"); n != 1 {
						t.Errorf("%d log lines", n)
					}
					switch next {
					case "release":
						if err := w.release("1"); err != nil {
							t.Error(err)
						}
						w.advance(time.Second)
						if up := w.upOn(); !slices.Equal(up, []int{0}) {
							t.Errorf("after the release of rank 1: up on %v", up)
						}
					case "rabbit":
						w.ends(t, w.rabbit(4))
					case "other":
						w.ends(t, w.submit(embed.Jobspec{Nodes: 4, Exclusive: true}))
					}
					w.advance(time.Second)
					if up := w.upOn(); next != "release" && len(up) > 0 {
						t.Errorf("up on %v", up)
					}
				})
			})
		}
	}
}

// Two and three jobs on the same nodes, at distances that bring their phases
// against each other in every way.
func TestSharedNodes(t *testing.T) {
	for jobs := 2; jobs <= 3; jobs++ {
		for d := 20 * time.Millisecond; d < 900*time.Millisecond; d += 110 * time.Millisecond {
			t.Run(fmt.Sprintf("%d jobs, %v", jobs, d), func(t *testing.T) {
				each(t, setup{Shared: true}, func(t *testing.T, w *world) {
					for range jobs {
						w.rabbit(4)
						w.advance(d)
					}
					if !w.run(w.in.Idle, time.Minute) {
						t.Error("they do not end")
					}
				})
			})
		}
	}
}
