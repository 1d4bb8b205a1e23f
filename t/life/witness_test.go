// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/phase"
	"flux-burrow/t/embed"
)

// witness sees processes, tasks and events, and says what guarantee was
// violated. It knows nothing of what burrow thinks.
type witness struct {
	w        *world
	jobs     map[embed.JobID]*jobSeen
	order    []embed.JobID
	broken   []string
	pluginUp bool
	// pluginSince is when the plugin was loaded last.
	pluginSince time.Duration
	// blamed are texts that a drain's reason may have, by rank.
	blamed map[int][]string
}

// jobSeen is what was seen of a job.
type jobSeen struct {
	id      embed.JobID
	rabbit  bool
	ranks   []int
	holds   map[string]int
	alloc   bool
	env     bool
	start   bool
	cleanup bool
	ended   bool // no task runs any more, or will
	running bool // its tasks run
	over    bool

	// mountSince and unmountSince: since when dws may mount and unmount; -1.
	mountSince, unmountSince time.Duration
	// freed is when burrow had nothing (more) against its start.
	freed time.Duration
	// lastWindow is when its services were last wanted up.
	lastWindow time.Duration
	// unwatched: the plugin was not there at some time before its end.
	unwatched bool
	givenUp   bool
}

const never time.Duration = -1

func newWitness(w *world) *witness {
	return &witness{w: w, jobs: map[embed.JobID]*jobSeen{}, blamed: map[int][]string{}}
}

func (v *witness) violated(format string, args ...any) {
	v.broken = append(v.broken, fmt.Sprintf("%8.3f  ", v.w.in.Elapsed().Seconds())+fmt.Sprintf(format, args...))
}

func (v *witness) blame(rank int, texts ...string) {
	for _, t := range texts {
		if !slices.Contains(v.blamed[rank], t) {
			v.blamed[rank] = append(v.blamed[rank], t)
		}
	}
}

// unwatched marks the jobs that are there when the plugin goes.
func (v *witness) unwatched() {
	for _, j := range v.jobs {
		if j.alloc && !j.over {
			j.unwatched = true
		}
	}
}

func (v *witness) job(id embed.JobID) *jobSeen {
	j := v.jobs[id]
	if j == nil {
		j = &jobSeen{id: id, holds: map[string]int{}, mountSince: never, unmountSince: never, lastWindow: never, freed: never}
		v.jobs[id] = j
		v.order = append(v.order, id)
	}
	return j
}

// event takes an event at the moment when the job manager processes it.
func (v *witness) event(id embed.JobID, e embed.Event) {
	j := v.job(id)
	v.add(j, e)
	if e.Name == "alloc" && !v.pluginUp {
		j.unwatched = true
	}
}

func (v *witness) now() time.Duration { return v.w.in.Elapsed() }

func (v *witness) add(j *jobSeen, e embed.Event) {
	description := gjson.Get(e.Context, "description").Str
	switch e.Name {
	case "alloc":
		j.alloc = true
		if job, ok := v.w.in.Job(j.id); ok {
			j.ranks = job.Ranks
		}
		j.freed = v.now()
		if v.w.gapUntil < v.w.gapSince {
			// A job that is new where no agent is.
			for _, r := range j.ranks {
				v.blame(r, agentGone...)
			}
		}
	case "prolog-start", "epilog-start":
		j.holds[description]++
		if strings.HasPrefix(description, "burrow-") && j.holds[description] != 1 {
			v.violated("G3: %s of %s taken twice", description, embed.JobIDString(j.id))
		}
	case "prolog-finish", "epilog-finish":
		j.holds[description]--
		if description == "burrow-prolog" {
			j.freed = v.now()
		}
		if j.holds[description] < 0 && strings.HasPrefix(description, "burrow-") {
			v.violated("G3: %s of %s finished without a start", description, embed.JobIDString(j.id))
		}
		if description == "dws-epilog" && j.alloc && j.ended && v.pluginUp && v.now()-v.pluginSince > 300*time.Millisecond &&
			j.holds["burrow-epilog"] == 0 {
			v.violated("G4: %s goes on before its services are idle", embed.JobIDString(j.id))
		}
		if description == "dws-epilog" && gjson.Get(e.Context, "status").Int() != 0 {
			j.givenUp = true
		}
	case "dws_environment":
		j.env = true
	case "start":
		j.start = true
	case "finish":
		j.cleanup, j.ended = true, true
	case "release":
		j.ended = true
	case "exception":
		if gjson.Get(e.Context, "severity").Int() == 0 {
			j.cleanup = true
			j.ended = j.ended || !j.start
		}
	case "clean":
		j.over = true
	}
	now := v.now()
	mounts := j.holds["dws-setup"] > 0 && !j.env && !j.cleanup
	unmounts := j.holds["dws-epilog"] > 0 && j.ended && !j.running
	j.mountSince = since(mounts, j.mountSince, now)
	j.unmountSince = since(unmounts, j.unmountSince, now)
	if mounts || unmounts || j.rabbit && (j.holds["burrow-prolog"] > 0 || j.holds["burrow-epilog"] > 0) {
		j.lastWindow = now
	}
}

func since(is bool, was, now time.Duration) time.Duration {
	switch {
	case !is:
		return never
	case was == never:
		return now
	}
	return was
}

// reread takes the jobs from their eventlogs, after a crash that lost events.
func (v *witness) reread() {
	for _, id := range v.order {
		old := v.jobs[id]
		j := &jobSeen{id: id, holds: map[string]int{}, mountSince: never, unmountSince: never,
			lastWindow: old.lastWindow, freed: old.freed, unwatched: old.unwatched, running: old.running, ranks: old.ranks, rabbit: old.rabbit}
		for _, e := range v.w.in.Eventlog(id) {
			freed := j.freed
			v.add(j, e)
			j.freed = freed
		}
		v.jobs[id] = j
	}
}

// tasks takes the start and the end of a job's tasks. G1.
func (v *witness) tasks(id embed.JobID, ranks []int, running bool) {
	j := v.job(id)
	j.running = running
	if !running {
		return
	}
	if v.w.OnFailure == "ignore" || j.unwatched {
		return
	}
	var up []string
	bad := map[int]bool{}
	for _, s := range v.w.cfg.Services {
		for _, r := range ranks {
			if p := (place{r, s.Unit}); !s.Up.Has(phase.Run) && v.w.nodes.disturbs(p) && !v.shared(j, r) {
				up = append(up, fmt.Sprintf("%s on rank %d", s.Unit, r))
				bad[r] = true
			}
		}
	}
	if len(bad) > v.w.Tolerate {
		v.violated("G1: tasks of %s start with %s up", embed.JobIDString(id), strings.Join(up, ", "))
	}
}

// shared tells whether another job that has been let go on by burrow as well
// may have a service up on a rank that it shares with j.
func (v *witness) shared(j *jobSeen, rank int) bool {
	for _, o := range v.jobs {
		if o != j && o.rabbit && slices.Contains(o.ranks, rank) &&
			(!o.over && (o.holds["dws-setup"]+o.holds["dws-epilog"]+o.holds["burrow-prolog"]+o.holds["burrow-epilog"] > 0) ||
				o.lastWindow >= j.freed) {
			return true
		}
	}
	return false
}

// starts takes the begin of a start command: none may wake a service under
// the tasks of a job that has its nodes for itself.
func (v *witness) starts(p place) {
	for _, j := range v.jobs {
		if !j.running || !slices.Contains(j.ranks, p.rank) || j.cleanup || j.unwatched || v.w.Shared {
			continue
		}
		for _, s := range v.w.cfg.Services {
			if s.Unit == p.unit && !s.Up.Has(phase.Run) {
				v.violated("G1: %s is started on rank %d while %s runs", p.unit, p.rank, embed.JobIDString(j.id))
			}
		}
	}
}

// stops takes the begin of a stop command: none may cut off a mount. G2.
func (v *witness) stops(p place) {
	now := v.now()
	// A wish is some time on its way.
	way := time.Duration(2*v.w.Size) * v.w.Latency
	for _, s := range v.w.cfg.Services {
		if s.Unit != p.unit {
			continue
		}
		for _, j := range v.jobs {
			if j.over || j.unwatched || j.givenUp || !slices.Contains(j.ranks, p.rank) || !v.w.nodes.up[p] {
				continue
			}
			for _, x := range []struct {
				p     phase.Phase
				since time.Duration
			}{{phase.Mount, j.mountSince}, {phase.Unmount, j.unmountSince}} {
				if s.Up.Has(x.p) && x.since != never && x.since+way < now {
					v.violated("G2: %s is stopped on rank %d in the %s of %s", p.unit, p.rank, x.p, embed.JobIDString(j.id))
				}
			}
		}
	}
}
