// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
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
	// off: it is not enabled.
	off bool
	// reloaded is when the configuration changed last.
	reloaded time.Duration
	// drains: the policy was to drain at some time.
	drains bool
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
	// unwatched: it may start without burrow's leave.
	unwatched bool
	// orphaned: its hold is nobody's.
	orphaned bool
	// stolen counts holds that another plugin ended beside its own.
	stolen int
	// blind: its mount or unmount began while the plugin was not there.
	blind   bool
	givenUp bool
	// forgotten: no exec service knows it any more, since it was in CLEANUP when
	// that was reloaded, or the instance lost it in a crash.
	forgotten bool
	// ignored and tolerate are the most lenient policy of its life.
	ignored  bool
	tolerate int
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

// settle is how long the plugin may take, after it was loaded, until it knows
// what goes on, and a new configuration until all have it.
const settle = 500 * time.Millisecond

// settled tells whether the plugin knows what goes on.
func (v *witness) settled() bool { return v.active() && v.now()-v.pluginSince > settle }

// active tells whether the plugin is there and enabled.
func (v *witness) active() bool { return v.pluginUp && !v.off }

// informed: agents that were loaded while the plugin was not there are told of
// jobs from now on.
func (v *witness) informed() {
	for r := range v.w.blind {
		v.w.blind[r] = v.now() + settle
	}
}

// orphans marks jobs whose holds are nobody's from now on: the job manager
// ends, and with it what was left to end them, and the plugin is not there.
func (v *witness) orphans() {
	if v.pluginUp {
		return
	}
	for _, j := range v.jobs {
		if j.holds["burrow-prolog"]+j.holds["burrow-epilog"] > 0 {
			j.orphaned = true
		}
	}
}

// newPolicy is told of the policy when it may have changed.
func (v *witness) newPolicy() {
	v.reloaded = v.now()
	if v.off && !v.w.Off {
		v.pluginSince = v.now()
		v.informed()
	}
	v.off = v.w.Off
	v.drains = v.drains || v.w.OnFailure == "" || v.w.OnFailure == "drain"
	for _, j := range v.jobs {
		v.lenient(j)
	}
}

func (v *witness) lenient(j *jobSeen) {
	if !j.over {
		j.ignored = j.ignored || v.w.OnFailure == "ignore"
		j.tolerate = max(j.tolerate, v.w.Tolerate)
	}
}

func (v *witness) job(id embed.JobID) *jobSeen {
	j := v.jobs[id]
	if j == nil {
		j = &jobSeen{id: id, holds: map[string]int{}, mountSince: never, unmountSince: never, lastWindow: never, freed: never}
		v.jobs[id] = j
		v.order = append(v.order, id)
		v.lenient(j)
	}
	return j
}

// event takes an event at the moment when the job manager processes it.
func (v *witness) event(id embed.JobID, e embed.Event) {
	j := v.job(id)
	v.add(j, e)
	if e.Name == "alloc" && !v.active() {
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
		if n := j.holds[description]; strings.HasPrefix(description, "burrow-") && (n < 1 || n > 1+j.stolen) {
			v.violated("G3: %s of %s taken twice", description, jobid.ID(j.id).String())
		}
		if description == "burrow-prolog" {
			j.unwatched = false
		}
	case "prolog-finish", "epilog-finish":
		j.holds[description]--
		if description == "burrow-prolog" {
			j.freed = v.now()
		}
		if j.holds[description] < 0 && strings.HasPrefix(description, "burrow-") {
			v.violated("G3: %s of %s finished without a start", description, jobid.ID(j.id).String())
		}
		if description == "dws-epilog" && j.holds[description] < 0 {
			// Its service repeats itself after a crash: that ends another's hold.
			j.stolen++
		}
		if description == thief {
			j.stolen++
			if !v.settled() {
				j.unwatched = true
			}
		}
		if description == "dws-epilog" && j.alloc && j.ended && !j.unwatched && v.active() && v.now()-v.pluginSince > 300*time.Millisecond &&
			j.holds["burrow-epilog"] == 0 {
			v.violated("G4: %s goes on before its services are idle", jobid.ID(j.id).String())
		}
		if description == "dws-epilog" && gjson.Get(e.Context, "status").Int() != 0 {
			j.givenUp = true
		}
	case "dws_environment":
		if j.rabbit && v.settled() && j.holds["dws-setup"] > 0 && !j.cleanup && !j.start && j.holds["burrow-prolog"] == 0 {
			v.violated("G1: %s is mounted, and burrow does not hold it", jobid.ID(j.id).String())
		}
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
			// Where nothing holds its start the exec service was asked, and tasks
			// may come up until it answers with a release.
			j.ended = j.ended || !j.start && j.held()
		}
	case "clean":
		j.over = true
	}
	now := v.now()
	mounts := j.holds["dws-setup"] > 0 && !j.env && !j.cleanup && !j.start
	unmounts := j.holds["dws-epilog"] > 0 && j.ended && !j.running
	if !v.settled() && (mounts && j.mountSince == never || unmounts && j.unmountSince == never) {
		j.blind = true
	}
	j.mountSince = since(mounts, j.mountSince, now)
	j.unmountSince = since(unmounts, j.unmountSince, now)
	if mounts || unmounts || j.rabbit && (j.holds["burrow-prolog"] > 0 || j.holds["burrow-epilog"] > 0) {
		j.lastWindow = now
	}
}

// held tells whether anybody holds the job.
func (j *jobSeen) held() bool {
	for _, n := range j.holds {
		if n > 0 {
			return true
		}
	}
	return false
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
			lastWindow: old.lastWindow, running: old.running, ranks: old.ranks, rabbit: old.rabbit,
			ignored: old.ignored, tolerate: old.tolerate, blind: true}
		for _, e := range v.w.in.Eventlog(id) {
			v.add(j, e)
			j.freed = old.freed
		}
		j.unwatched, j.orphaned = old.unwatched, old.orphaned
		_, known := v.w.in.Job(id)
		j.forgotten = old.forgotten || j.cleanup || !known
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
	// What was let go about when the configuration changed may be so by the old
	// one.
	if j.ignored || j.unwatched || v.reloaded > 0 && j.freed < v.reloaded+settle {
		return
	}
	var up []string
	bad := map[int]bool{}
	for _, s := range v.w.cfg.Services {
		for _, r := range ranks {
			if p := (place{r, s.Unit}); !s.Up.Has(phase.Run) && v.w.current(r) && v.w.nodes.disturbs(p) && !v.shared(j, r) {
				up = append(up, fmt.Sprintf("%s on rank %d", s.Unit, r))
				bad[r] = true
			}
		}
	}
	if len(bad) > j.tolerate {
		v.violated("G1: tasks of %s start with %s up", jobid.ID(id).String(), strings.Join(up, ", "))
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

// reloading tells whether a change of the configuration may be under way.
func (v *witness) reloading() bool { return v.reloaded > 0 && v.now() < v.reloaded+settle }

// starts takes the begin of a start command: none may wake a service under
// the tasks of a job that has its nodes for itself.
func (v *witness) starts(p place) {
	if v.reloading() || !v.w.current(p.rank) {
		return
	}
	for _, j := range v.jobs {
		if !j.running || !slices.Contains(j.ranks, p.rank) || j.forgotten || j.unwatched || v.w.Shared {
			continue
		}
		for _, s := range v.w.cfg.Services {
			if s.Unit == p.unit && !s.Up.Has(phase.Run) {
				v.violated("G1: %s is started on rank %d while %s runs", p.unit, p.rank, jobid.ID(j.id).String())
			}
		}
	}
}

// stops takes the begin of a stop command: none may cut off a mount. G2.
func (v *witness) stops(p place) {
	now := v.now()
	// An agent that was loaded since the plugin went was told of no job.
	if v.reloading() || v.now() < v.w.blind[p.rank] || !v.w.current(p.rank) {
		return
	}
	// A wish is some time on its way.
	way := time.Duration(2*v.w.Size) * v.w.Latency
	for _, s := range v.w.cfg.Services {
		if s.Unit != p.unit {
			continue
		}
		for _, j := range v.jobs {
			if j.over || j.givenUp || j.blind && !v.settled() || !slices.Contains(j.ranks, p.rank) || !v.w.nodes.up[p] {
				continue
			}
			for _, x := range []struct {
				p     phase.Phase
				since time.Duration
			}{{phase.Mount, j.mountSince}, {phase.Unmount, j.unmountSince}} {
				if j.blind && x.since != never {
					x.since = max(x.since, v.pluginSince+settle)
				}
				if s.Up.Has(x.p) && x.since != never && x.since+way < now {
					v.violated("G2: %s is stopped on rank %d in the %s of %s", p.unit, p.rank, x.p, jobid.ID(j.id).String())
				}
			}
		}
	}
}
