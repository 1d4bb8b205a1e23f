// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"sort"
	"strings"

	"github.com/tidwall/sjson"

	flux "flux-burrow/cgo"
)

// StopJobManager unloads the job-manager module: pending events are
// committed, requests are refused from now on, jobs are dropped, and then the
// plugins go, so that a plugin's destructor finds no job (job-manager.c).
// Tasks run on.
func (in *Instance) StopJobManager() { in.jm.shutdown(true) }

func (jm *jobManager) shutdown(orderly bool) {
	if !jm.up {
		return
	}
	in := jm.in
	jm.up = false
	in.kvs.settle(orderly)
	if orderly {
		jm.batch.flush()
	}
	in.disarm(&jm.batch.timer)
	jm.batch = batch{jm: jm, timer: timer{index: -1}}
	in.exec.detach()
	jm.alloc.online = false
	jm.active, jm.byID, jm.inactive = nil, map[JobID]*job{}, map[JobID]*job{}
	jm.stack = nil
	for _, p := range jm.plugins {
		if !orderly {
			p.aux.items = nil // nobody is left to call a destructor
		}
		p.destroy()
	}
	jm.plugins = nil
	in.housekeeping.allocs = nil
	if !orderly {
		jm.h.used = nil
		in.cells.crashed = true
	}
	jm.h.close(orderly)
}

// StartJobManager loads the job-manager module: configured plugins are
// loaded, then jobs are read from the KVS and their state is replayed from
// their eventlogs, then each active job's job.create and job.new is called.
// No state callback is called for a job in RUN (FACTS 13).
func (in *Instance) StartJobManager() {
	if in.jm.up {
		return
	}
	jm := in.newJobManager()
	in.jm = jm
	jm.loadConfigured()
	jm.fromKVS()
	if in.allocator != nil {
		in.allocatorHello()
	}
	in.postSelf(in.exec.h, func() {
		in.post(in.exec.h.id, jm.h.id, task{owner: jm.h, fn: jm.execHello})
	})
}

// RestartJobManager reloads the job-manager module, and with it the exec
// service and the instance's own scheduler, which on a real Flux wait for ever
// for a job manager that was reloaded alone (seen on 0.88). A test's own
// scheduler module is the test's to reload. The plugins that were loaded are
// taken to be configured, so that they are loaded again; Configured changes
// that.
func (in *Instance) RestartJobManager() {
	in.StopJobManager()
	in.StartJobManager()
}

func (jm *jobManager) loadConfigured() {
	for _, s := range jm.in.configured {
		p := jm.newPlugin(s.Name, s.Conf)
		if err := jm.load(p, func() error { return s.start(p) }); err != nil {
			jm.in.logf(0, "job-manager", 3, "config: [job-manager.plugins]: load: %v", err)
			continue
		}
	}
	// The configuration is then given to all (seen twice in
	// recorded/jobtap-restart.jsonl).
	_ = jm.confUpdate(jm.in.Config())
}

func (s PluginSpec) base() string { return s.Name[strings.LastIndexByte(s.Name, '/')+1:] }

func (s PluginSpec) start(p *Plugin) error {
	if s.setup != nil {
		return s.setup(p)
	}
	return s.Init(flux.PluginFromPointer(p.pointer()))
}

func (jm *jobManager) fromKVS() {
	in := jm.in
	var ids []JobID
	for key := range in.kvs.data {
		if id, name, ok := jobOfKey(key); ok && name == "eventlog" {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, k int) bool { return ids[i] < ids[k] })
	for _, id := range ids {
		j, err := jm.replay(id)
		if err != nil {
			in.logf(0, "job-manager", 3, "job %s not replayed: %v", idString(id), err)
			continue
		}
		jm.insert(j)
		jm.action(j)
	}
	jm.each(func(j *job) {
		jm.call(j, "job.create", "")
		jm.call(j, "job.new", "")
		if j.state == StateSched {
			j.priority = -1
			jm.post(j, "flux-restart", "")
		} else if j.state&(StateRun|StateCleanup) != 0 {
			jm.running++
		}
	})
}

// replay makes a job from the KVS (job.c, job_create_from_eventlog). What was
// not committed is not there.
func (jm *jobManager) replay(id JobID) (*job, error) {
	in := jm.in
	j := newJob(id)
	j.jobspec = in.kvs.data[j.key("jobspec")]
	if r := in.kvs.data[j.key("R")]; r != "" {
		j.r, _ = sjson.Delete(r, "scheduling")
	}
	events, err := parseEvents(in.kvs.data[j.key("eventlog")])
	if err != nil {
		return nil, err
	}
	j.eventlog = events
	for _, e := range events {
		if err := j.update(e); err != nil {
			return nil, err
		}
	}
	if j.state == StateNew {
		return nil, &Error{Text: "job state (N) is invalid after replay"}
	}
	// posted stays empty: that is why a plugin is told that a job which did
	// start has not (FACTS 13).
	return j, nil
}

// RestartBroker kills a broker and starts it again. Rank 0 is the instance:
// all brokers go, and all modules with them, tests have to load theirs again;
// configured plugins are loaded. The KVS keeps what was committed. Other
// ranks are lost and come back.
func (in *Instance) RestartBroker(rank int) {
	if rank != 0 {
		in.LoseRank(rank)
		in.ReturnRank(rank)
		return
	}
	for _, b := range in.brokers {
		if b.dead != nil {
			in.disarm(b.dead)
			b.dead = nil
		}
	}
	in.jm.shutdown(false)
	in.rexec.killAll()
	in.resource.acquire = nil
	in.resource.exclude = in.resource.excluded()
	hadAllocator := in.allocator != nil
	in.allocator = nil
	for _, b := range in.brokers {
		in.vanish(b)
		b.up = true
		b.joined(in.Config())
	}
	in.clients = nil
	if in.dws != nil {
		in.dws.restart()
	}
	if hadAllocator {
		in.StartJobManager()
		in.LoadAllocator()
		return
	}
	in.StartJobManager()
}

// Configured replaces what [job-manager.plugins] names: what is loaded when
// the job manager starts again.
func (in *Instance) Configured(plugins ...PluginSpec) { in.configured = plugins }
