// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/tidwall/sjson"

	flux "flux-burrow/cgo"
)

// PluginSpec is a plugin of the configuration's [job-manager.plugins]: it is
// loaded with the job manager, each time.
type PluginSpec struct {
	Name string
	Conf string // JSON object, "" for none
	Init func(*flux.Plugin) error

	setup func(*Plugin) error // of a plugin written in Go
}

// LoadPlugin loads a plugin of the job manager as flux-jobtap(1) does: init
// is called, then conf.update, then job.create and job.new for each active
// job, and job.state.depend where it is in that state.
func (in *Instance) LoadPlugin(path, conf string, init func(*flux.Plugin) error) (*Plugin, error) {
	if !in.jm.up {
		return nil, &Error{Num: syscall.ENOSYS, Text: noService("job-manager.jobtap")}
	}
	return in.loadSpec(PluginSpec{Name: path, Conf: conf, Init: init})
}

func (in *Instance) loadSpec(s PluginSpec) (*Plugin, error) {
	p := in.jm.newPlugin(s.Name, s.Conf)
	if err := in.jm.load(p, func() error { return s.start(p) }); err != nil {
		return nil, err
	}
	in.configured = append(in.configured, s)
	return p, nil
}

// RemovePlugin removes a plugin: its aux destructors are called while the
// job manager's functions work.
func (in *Instance) RemovePlugin(name string) error {
	for _, p := range in.jm.plugins {
		if p.base == name {
			in.jm.removePlugin(p)
			for i, s := range in.configured {
				if s.base() == name {
					in.configured = append(in.configured[:i:i], in.configured[i+1:]...)
					break
				}
			}
			return nil
		}
	}
	return &Error{Num: syscall.ENOENT, Text: "Failed to find plugin to remove"}
}

// Plugins gives the names of the loaded plugins, in the order of their calls.
func (in *Instance) Plugins() []string {
	var names []string
	for _, p := range in.jm.plugins {
		names = append(names, p.base)
	}
	return names
}

func (jm *jobManager) newPlugin(path, conf string) *Plugin {
	p := &Plugin{in: jm.in, jm: jm, base: PluginSpec{Name: path}.base(), conf: conf}
	// The first thing hung on a plugin, so the last with a key to go.
	p.aux.add(auxItem{key: "flux::jobtap", keyed: true, fn: func() { p.detached = true }})
	return p
}

func (jm *jobManager) load(p *Plugin, init func() error) error {
	fail := func(err error) error {
		p.destroy()
		return err
	}
	if err := init(); err != nil {
		return fail(err)
	}
	if p.name == "" || strings.ContainsAny(p.name, "./") {
		p.setName(p.base)
		if i := strings.IndexByte(p.name, '.'); i >= 0 {
			p.setName(p.name[:i])
		}
	}
	for _, o := range jm.plugins {
		if o.base == p.base {
			return fail(&Error{Num: syscall.EEXIST, Text: p.base + " already loaded"})
		}
	}
	if err := jm.callConfUpdate(p, jm.in.Config()); err != nil {
		return fail(err)
	}
	jm.plugins = append(jm.plugins, p)
	jm.each(func(j *job) {
		jm.stack = append(jm.stack, j)
		args := newArgs(jm.in, j.args(""))
		p.call("job.create", args)
		p.call("job.new", args)
		if j.state == StateDepend {
			p.call("job.state.depend", args)
		}
		args.destroy()
		jm.stack = jm.stack[:len(jm.stack)-1]
	})
	jm.reprioritizeAll()
	return nil
}

func (jm *jobManager) removePlugin(p *Plugin) {
	for i, o := range jm.plugins {
		if o == p {
			jm.plugins = append(jm.plugins[:i:i], jm.plugins[i+1:]...)
			break
		}
	}
	p.destroy()
}

// callConfUpdate gives a plugin the whole configuration; a refusal carries
// its errmsg.
func (jm *jobManager) callConfUpdate(p *Plugin, conf string) error {
	args := newArgs(jm.in, `{"conf":`+conf+`}`)
	args.out = ""
	defer args.destroy()
	if p.call("conf.update", args) < 0 {
		return &Error{Num: syscall.EINVAL, Text: args.errmsg("config rejected by " + p.name + " jobtap plugin")}
	}
	return nil
}

func (jm *jobManager) confUpdate(conf string) error {
	for _, p := range append([]*Plugin(nil), jm.plugins...) {
		if err := jm.callConfUpdate(p, conf); err != nil {
			return err
		}
	}
	return nil
}

// stackCall calls plugins in turn. A plugin that fails ends the turn: those
// after it are not called. It gives the number of plugins that had a
// handler, or -1.
func (jm *jobManager) stackCall(plugins []*Plugin, j *job, topic string, args *Args) int {
	count := 0
	jm.stack = append(jm.stack, j)
	for _, p := range append([]*Plugin(nil), plugins...) {
		if p.destroyed {
			continue
		}
		rc := p.call(topic, args)
		if rc < 0 {
			jm.in.logf(0, "job-manager", 7, "jobtap: %s: %s: rc=%d", p.base, topic, rc)
			count = -1
			break
		}
		count += rc
	}
	jm.stack = jm.stack[:len(jm.stack)-1]
	args.destroy()
	return count
}

func (jm *jobManager) wanted(topic string) bool {
	for _, p := range jm.plugins {
		if p.match(topic) != nil {
			return true
		}
	}
	return false
}

// call makes a callback that can set things: priority, annotations, R.
func (jm *jobManager) call(j *job, topic, extra string) {
	out := "{}"
	if jm.wanted(topic) {
		args := newArgs(jm.in, j.args(extra))
		if jm.stackCall(jm.plugins, j, topic, args) < 0 {
			jm.in.logf(0, "job-manager", 3, "jobtap: %s: callback returned error", topic)
		}
		out = args.out
	}
	if out != "{}" {
		o := jsonParse(out)
		if r := o.Get("R"); r.Exists() && topic == "job.state.sched" && j.r == "" {
			j.r, _ = sjson.Delete(r.Raw, "scheduling")
		}
		if n := o.Get("annotations"); n.Exists() {
			jm.annotate(j, n.Raw)
		}
		if prio := o.Get("priority"); prio.Exists() {
			jm.reprioritize(j, prio.Int())
			return
		}
	}
	// The built-in plugin .priority-default comes first of all plugins.
	if topic == "job.state.priority" {
		jm.reprioritize(j, int64(j.urgency))
	}
}

// callEarly is for callbacks that can refuse a job at its submission.
func (jm *jobManager) callEarly(j *job, topic string) (text string, ok bool) {
	if !jm.wanted(topic) {
		return "", true
	}
	args := newArgs(jm.in, j.args(""))
	if jm.stackCall(jm.plugins, j, topic, args) < 0 {
		return args.errmsg("rejected by job-manager plugin"), false
	}
	return "", true
}

func (jm *jobManager) reprioritize(j *job, priority int64) {
	if j.state != StatePriority && j.state != StateSched {
		return
	}
	switch j.urgency {
	case 0:
		priority = 0
	case 31:
		priority = 4294967295
	}
	if priority == j.priority && j.state == StateSched {
		return
	}
	jm.post(j, "priority", `{"priority":`+itoa(int(priority))+`}`)
	j.priority = priority
	a := &jm.alloc
	switch {
	case j.allocQueued:
		a.queue = insertJob(deleteJob(a.queue, j), j)
		a.recalc()
	case j.allocPending && priority == 0:
		a.cancel(j, false)
	case j.allocPending:
		jm.tell("sched.prioritize", fmt.Sprintf(`{"jobs":[[%d,%d]]}`, j.id, priority), true)
		a.sent = insertJob(deleteJob(a.sent, j), j)
		a.recalc()
	}
}

func (jm *jobManager) reprioritizeAll() {
	jm.each(func(j *job) {
		if (j.state == StatePriority || j.state == StateSched) && jm.wanted("job.priority.get") {
			args := newArgs(jm.in, j.args(""))
			jm.stackCall(jm.plugins, j, "job.priority.get", args)
			if prio := jsonGet(args.out, "priority"); prio.Exists() && prio.Int() != j.priority {
				jm.reprioritize(j, prio.Int())
			}
		}
	})
}

// lookup is how plugins name jobs: the current one by its id or by
// FLUX_JOBTAP_CURRENT_JOB, others by their id.
func (jm *jobManager) lookup(id JobID) *job {
	var cur *job
	if n := len(jm.stack); n > 0 {
		cur = jm.stack[n-1]
	}
	if id == currentJob || cur != nil && cur.id == id {
		return cur
	}
	return jm.find(id)
}

const currentJob JobID = 0xFFFFFFFFFFFFFFFF

func (jm *jobManager) lookupActive(id JobID) *job {
	if j := jm.lookup(id); j != nil && j.state != StateInactive {
		return j
	}
	return nil
}
