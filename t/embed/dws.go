// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DWS plays the dws jobtap plugin of flux-coral2 and the service that it
// talks to, as they were seen in recorded/jobtap-rabbit.jsonl: a dependency
// until the service has the job's resources, a prolog hold "dws-setup" taken
// in job.state.run and finished with dws_environment, or by a fatal
// exception, and an epilog hold "dws-epilog" taken in the finish event's
// callback, or in job.state.cleanup of a job that did not start.
type DWS struct {
	Plugin *Plugin

	in   *Instance
	h    *Handle // the service's
	opts DWSOptions
	jobs map[JobID]*dwsJob
	// told is what the service has told the plugin of each job. The workflows
	// live outside of Flux, so it survives.
	told map[JobID]*dwsTold
}

type dwsTold struct {
	created     bool
	environment bool
	epilog      bool
	status      int
	ranks       []int
	// phase of the workflow: what is overtaken by a newer step is dropped.
	phase int
}

// DWSOptions are the switches of the service.
type DWSOptions struct {
	SetupDelay   time.Duration // from setup to dws_environment
	PostRunDelay time.Duration // from post_run to the end of the epilog
	// NoEnvironment never finishes the setup of a job.
	NoEnvironment func(JobID) bool
	// SetupFail answers setup with an error: exception "dws-setup".
	SetupFail func(JobID) bool
	// MountNeeds and UnmountNeeds must be true before the setup, the epilog
	// can end; they are asked each tenth of a second.
	MountNeeds   func(id JobID, ranks []int) bool
	UnmountNeeds func(id JobID, ranks []int) bool
	// EpilogStatus is the status that the epilog ends with: not 0 where the
	// unmount was given up.
	EpilogStatus func(JobID) int
	// EpilogTimeout is the plugin's epilog-timeout: exception
	// "dws-epilog-timeout", and the epilog ends with status 1.
	EpilogTimeout time.Duration
	// Jitter is added to the delays at random, by the seed.
	Jitter time.Duration
	// Once: the service tells the plugin each thing once, as the real one does,
	// and does not try again where the plugin is not loaded. Otherwise it is
	// taken to be restarted by then, which has it look at all workflows.
	Once bool
}

// dwsJob is what the plugin keeps in a job's aux. It is lost with the plugin.
type dwsJob struct {
	prolog bool // its hold is open
	epilog bool
	known  bool // its run state was seen
	expiry *timer
}

const dwsPoll = 100 * time.Millisecond

// DWS loads the plugin now: call it before or after another plugin is loaded
// to have its callbacks come first or last.
func (in *Instance) DWS(opts DWSOptions) (*DWS, error) {
	d := &DWS{in: in, opts: opts, jobs: map[JobID]*dwsJob{}, told: map[JobID]*dwsTold{}}
	d.h = in.newHandle(0, "dws")
	var err error
	d.Plugin, err = in.loadSpec(PluginSpec{Name: "dws.so", setup: d.setup})
	in.dws = d
	return d, err
}

// Remove removes the plugin. What it hung on jobs goes with it: answers of the
// service that are on their way, time limits, and what it knew of its holds,
// which stay.
func (d *DWS) Remove() error { return d.in.RemovePlugin("dws.so") }

// Load loads the plugin again, as the last one. It sees jobs in DEPEND anew.
// Of those further on it sees no event any more but the next change of state,
// since it subscribes in job.state.depend and job.state.run only.
func (d *DWS) Load() error {
	_, err := d.in.loadSpec(PluginSpec{Name: "dws.so", setup: d.setup})
	return err
}

// Loaded tells whether the plugin is there.
func (d *DWS) Loaded() bool { return !d.Plugin.destroyed }

func (d *DWS) setup(p *Plugin) error {
	d.Plugin = p
	d.jobs = map[JobID]*dwsJob{}
	p.setName("dws")
	p.aux.add(auxItem{fn: func() {
		for _, x := range d.jobs {
			x.stopExpiry(d.in)
		}
	}})
	on := func(topic string, fn func(*job, *Args)) {
		p.handlers = append(p.handlers, pluginHandler{topic: topic, fn: func(_ string, j *job, a *Args) int {
			if jsonGet(j.jobspec, "attributes.system.dw").Exists() {
				fn(j, a)
			}
			return 0
		}})
	}
	on("job.state.depend", d.depend)
	on("job.state.run", d.run)
	on("job.state.cleanup", d.cleanup)
	on("job.event.finish", d.finish)
	on("job.event.exception", d.exception)
	return nil
}

// restart: the service starts again with the instance. It looks at all
// workflows, and tells again what a killed broker may have lost before it was
// committed: the holds that the eventlog has open are finished once more.
func (d *DWS) restart() {
	d.h = d.in.newHandle(0, "dws")
	var ids []JobID
	for id := range d.told {
		ids = append(ids, id)
	}
	sortIDs(ids)
	for _, id := range ids {
		told := d.told[id]
		if told.created {
			d.created(id)
		}
		if told.environment {
			d.toPlugin(id, func(j *job) {
				if j.state == StateRun && j.holds("prolog", "dws-setup") > 0 {
					d.Environment(id)
				}
			})
		}
		if told.epilog {
			d.toPlugin(id, func(j *job) {
				if j.state == StateCleanup && j.holds("epilog", "dws-epilog") > 0 {
					d.EndEpilog(id, told.status)
				}
			})
		}
	}
}

func (d *DWS) tell(id JobID) *dwsTold {
	if d.told[id] == nil {
		d.told[id] = &dwsTold{}
	}
	return d.told[id]
}

// holds counts the open holds of a name in the eventlog.
func (j *job) holds(what, description string) int {
	n := 0
	for _, e := range j.eventlog {
		if strings.HasPrefix(e.Name, what+"-") && jsonGet(e.Context, "description").Str == description {
			if e.Name == what+"-start" {
				n++
			} else {
				n--
			}
		}
	}
	return n
}

func (d *DWS) job(j *job) *dwsJob {
	x := d.jobs[j.id]
	if x == nil {
		x = &dwsJob{}
		d.jobs[j.id] = x
	}
	return x
}

// toService and toPlugin are RPCs between the two. The service tries again
// where the plugin is not loaded.
func (d *DWS) toService(fn func()) {
	d.in.post(d.in.jm.h.id, d.h.id, task{owner: d.h, fn: fn})
}

func (d *DWS) toPlugin(id JobID, fn func(*job)) {
	h := d.h
	d.in.post(h.id, d.in.jm.h.id, task{fn: func() {
		if h != d.h {
			return // the broker was killed with the message on its way
		}
		if !d.in.jm.up || d.Plugin.destroyed {
			if d.opts.Once && d.in.jm.up {
				return
			}
			d.in.after(h, dwsPoll, func() {
				if h == d.h {
					d.toPlugin(id, fn)
				}
			})
			return
		}
		if j := d.in.jm.byID[id]; j != nil {
			fn(j)
		}
	}})
}

func (d *DWS) wait(delay time.Duration) time.Duration {
	if d.opts.Jitter > 0 && d.in.random() {
		delay += time.Duration(d.in.rng.Int64N(int64(d.opts.Jitter)))
	}
	return delay
}

// depend: the service is asked for the job's resources, and has the
// dependency removed.
func (d *DWS) depend(j *job, _ *Args) {
	id := j.id
	d.job(j)
	if !slices.Contains(j.deps, "dws-create") {
		d.in.jm.post(j, "dependency-add", `{"description":"dws-create"}`)
	}
	d.Plugin.subscribe(j)
	d.toService(func() { d.created(id) })
}

func (d *DWS) created(id JobID) {
	d.tell(id).created = true
	d.toPlugin(id, func(j *job) {
		if j.state != StateDepend || len(j.deps) == 0 {
			return
		}
		resources := jsonGet(j.jobspec, "resources").Raw
		d.in.jm.post(j, "jobspec-update", `{"resources":`+resources+`}`)
		d.in.jm.post(j, "dependency-remove", `{"description":"dws-create"}`)
	})
}

// run takes the prolog hold.
func (d *DWS) run(j *job, _ *Args) {
	jm, id, x := d.in.jm, j.id, d.job(j)
	d.Plugin.subscribe(j)
	x.prolog, x.known = true, true
	ranks := ranksOfR(j.r)
	if jm.perilog(currentJob, true, true, "dws-setup", 0) != 0 {
		x.prolog = false
		jm.raise(j, "dws", 0, d.in.opts.Owner, "Failed to start dws jobtap prolog")
		return
	}
	d.toService(func() {
		if d.opts.SetupFail != nil && d.opts.SetupFail(id) {
			d.toPlugin(id, func(j *job) {
				// The answer goes with the job's aux.
				if x.prolog && d.jobs[id] == x {
					d.in.jm.raise(j, "dws-setup", 0, d.in.opts.Owner, "DWS workflow interactions failed: setup failed on request")
				}
			})
			return
		}
		t := d.tell(id)
		t.ranks = ranks
		t.phase++
		phase := t.phase
		if d.opts.NoEnvironment != nil && d.opts.NoEnvironment(id) {
			return
		}
		d.in.after(d.h, d.wait(d.opts.SetupDelay), func() { d.mounted(id, phase) })
	})
}

func (d *DWS) mounted(id JobID, phase int) {
	t := d.tell(id)
	if t.phase != phase {
		return // torn down meanwhile
	}
	if d.opts.MountNeeds != nil && !d.opts.MountNeeds(id, t.ranks) {
		d.in.after(d.h, dwsPoll, func() { d.mounted(id, phase) })
		return
	}
	d.Environment(id)
}

// Environment has a job's setup end now: dws_environment is posted and the
// prolog hold is finished.
func (d *DWS) Environment(id JobID) {
	d.tell(id).environment = true
	d.toPlugin(id, func(j *job) {
		jm, x := d.in.jm, d.job(j)
		if j.readonly {
			return
		}
		jm.post(j, "dws_environment", `{"variables":{"DW_JOB_test":"/mnt/nnf/test"}}`)
		// A plugin that was loaded anew does not know of the hold, and takes
		// it to be there.
		if x.prolog || !x.known {
			x.prolog = false
			jm.perilog(j.id, true, false, "dws-setup", 0)
		}
	})
}

func (d *DWS) finish(j *job, _ *Args) {
	if !d.job(j).epilog {
		d.epilog(j)
	}
}

func (d *DWS) cleanup(j *job, _ *Args) {
	// The real one asks whether "start" was posted, which a restart forgets
	// (FACTS 13).
	if !j.posted["start"] {
		d.epilog(j)
	}
}

func (d *DWS) epilog(j *job) {
	jm, id, x := d.in.jm, j.id, d.job(j)
	x.epilog = true
	ranks := ranksOfR(j.r)
	if jm.perilog(currentJob, false, true, "dws-epilog", 0) != 0 {
		jm.raise(j, "dws", 0, d.in.opts.Owner, "Failed to start jobtap epilog")
		return
	}
	if d.opts.EpilogTimeout > 0 {
		x.expiry = d.in.after(jm.h, d.opts.EpilogTimeout, func() {
			if j := jm.byID[id]; j != nil && j.state == StateCleanup && x.epilog {
				jm.raise(j, "dws-epilog-timeout", 0, d.in.opts.Owner, "DWS epilog timed out")
			}
		})
	}
	d.toService(func() {
		t := d.tell(id)
		t.ranks = ranks
		t.phase++
		phase := t.phase
		d.in.after(d.h, d.wait(d.opts.PostRunDelay), func() { d.unmounted(id, phase) })
	})
}

func (d *DWS) unmounted(id JobID, phase int) {
	t := d.tell(id)
	if t.phase != phase {
		return
	}
	if d.opts.UnmountNeeds != nil && !d.opts.UnmountNeeds(id, t.ranks) {
		d.in.after(d.h, dwsPoll, func() { d.unmounted(id, phase) })
		return
	}
	status := 0
	if d.opts.EpilogStatus != nil {
		status = d.opts.EpilogStatus(id)
	}
	d.EndEpilog(id, status)
}

// EndEpilog has a job's epilog end now.
func (d *DWS) EndEpilog(id JobID, status int) {
	t := d.tell(id)
	t.epilog, t.status = true, status
	d.toPlugin(id, func(j *job) {
		jm, x := d.in.jm, d.job(j)
		if j.state != StateCleanup {
			return
		}
		t.phase++
		x.stopExpiry(d.in)
		if status != 0 {
			jm.raise(j, "dws-epilog", 0, d.in.opts.Owner, "DWS workflow interactions failed: status "+strconv.Itoa(status))
		}
		jm.perilog(id, false, false, "dws-epilog", status)
		x.epilog = false
	})
}

func (x *dwsJob) stopExpiry(in *Instance) {
	if x.expiry != nil {
		in.disarm(x.expiry)
	}
}

func (d *DWS) exception(j *job, a *Args) {
	jm, x := d.in.jm, d.job(j)
	ctx := jsonGet(a.in_, "entry.context")
	if ctx.Get("severity").Int() != 0 {
		return
	}
	switch {
	case x.prolog:
		x.prolog = false
		d.tell(j.id).phase++
		jm.perilog(j.id, true, false, "dws-setup", 1)
	case x.epilog && ctx.Get("type").Str == "dws-epilog-timeout":
		d.tell(j.id).phase++
		x.stopExpiry(d.in)
		jm.perilog(j.id, false, false, "dws-epilog", 1)
		x.epilog = false
	}
}

// String tells what the plugin holds, for messages of tests.
func (d *DWS) String() string {
	s := ""
	for id, x := range d.jobs {
		if x.prolog || x.epilog {
			s += fmt.Sprintf("%s: setup %t epilog %t; ", idString(id), x.prolog, x.epilog)
		}
	}
	return s
}
