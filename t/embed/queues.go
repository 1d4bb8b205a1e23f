// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"syscall"

	"github.com/tidwall/sjson"
)

// queues are the job manager's queues (RFC 33; queue.c, queues.c). With a table
// [queues] in the configuration a job is in the one that it names, without it
// all are in one that has no name: the key is "". They outlive the job manager,
// which has them in its checkpoint.
type queues map[string]*queue

// queue may be stopped: its jobs are then not shown to the scheduler.
type queue struct{ started bool }

func (q queues) anonymous() bool { return q[""] != nil }

// configureQueues follows a new configuration: a queue that is there stays as
// it is, a new one is stopped, and the jobs of one that is gone are left alone.
func (in *Instance) configureQueues(config string) {
	in.queueConfig = config
	old, table := in.queues, jsonGet(config, "queues").Map()
	in.queues = queues{}
	for name := range table {
		if in.queues[name] = old[name]; old[name] == nil {
			in.queues[name] = &queue{}
		}
	}
	if len(table) > 0 {
		return
	}
	if in.queues[""] = old[""]; !old.anonymous() {
		in.queues[""] = &queue{started: true}
	}
}

// lookup gives a queue, or why there is none.
func (q queues) lookup(name string) (*queue, string) {
	switch {
	case q[name] != nil:
		return q[name], ""
	case name == "":
		return nil, "a named queue is required"
	default:
		return nil, fmt.Sprintf("'%s' is not a valid queue", name)
	}
}

// queueName is the name of the job's queue, "" where it names none.
func (j *job) queueName() string { return jsonGet(j.jobspec, "attributes.system.queue").Str }

// started tells whether a job may be shown to the scheduler. That of a queue
// which is gone may not.
func (q queues) started(j *job) bool {
	o := q[j.queueName()]
	return o != nil && o.started
}

// queueStartRequest starts or stops queues: flux-queue(1).
func (jm *jobManager) queueStartRequest(r *Request) {
	p := jsonParse(r.Payload())
	name, start, all := p.Get("name").Str, p.Get("start"), p.Get("all")
	if !start.Exists() || !all.Exists() {
		r.RespondError(syscall.EPROTO, "")
		return
	}
	queues := jm.in.queues
	if name == "" && !queues.anonymous() && !all.Bool() {
		r.RespondError(syscall.EINVAL, "Use --all to apply this command to all queues")
		return
	}
	which := queues
	if name != "" {
		q, text := queues.lookup(name)
		if q == nil {
			r.RespondError(syscall.EINVAL, text)
			return
		}
		which = map[string]*queue{name: q}
	}
	for name, q := range which {
		q.started = start.Bool()
		jm.each(func(j *job) {
			if j.queueName() == name {
				jm.alloc.follow(j, q.started)
			}
		})
	}
	r.Respond("")
}

// follow shows a job to the scheduler, or takes it back, as its queue was
// started or stopped.
func (a *alloc) follow(j *job, started bool) {
	switch {
	case started && j.state == StateSched:
		a.enqueue(j)
		a.recalc()
	case started:
	case j.allocQueued:
		a.dequeue(j)
	case j.allocPending:
		a.cancel(j, false)
	}
}

// StartQueue and StopQueue are `flux queue start` and stop; "" is all queues.
func (in *Instance) StartQueue(name string) error { return in.setQueue(name, true) }

// StopQueue is the other way round.
func (in *Instance) StopQueue(name string) error { return in.setQueue(name, false) }

func (in *Instance) setQueue(name string, start bool) error {
	request := map[string]any{"start": start, "all": name == ""}
	if name != "" {
		request["name"] = name
	}
	_, err := in.RPC(0, 0, "job-manager.queue-start", marshal(request))
	return err
}

// constrain adds what a job's queue requires to its constraints, as the
// frobnicator plugin "constraints" does at submission.
func (in *Instance) constrain(jobspec string) (string, error) {
	const at = "attributes.system.constraints"
	name := jsonGet(jobspec, "attributes.system.queue").Str
	if name == "" || in.queues.anonymous() {
		return jobspec, nil
	}
	entry := jsonGet(in.queueConfig, "queues").Map()[name]
	if !entry.Exists() {
		return "", &Error{Num: syscall.EINVAL, Text: fmt.Sprintf("Invalid queue '%s' specified", name)}
	}
	requires := entry.Get("requires")
	if !requires.Exists() {
		return jobspec, nil
	}
	own := jsonGet(jobspec, at)
	switch {
	case own.Get("properties").Exists():
		for _, p := range requires.Array() {
			if has := own.Get(`properties.#(==` + p.Raw + `)`); !has.Exists() {
				jobspec, _ = sjson.SetRaw(jobspec, at+".properties.-1", p.Raw)
			}
		}
	case own.Exists():
		jobspec, _ = sjson.SetRaw(jobspec, at, `{"and":[`+own.Raw+`,{"properties":`+requires.Raw+`}]}`)
	default:
		jobspec, _ = sjson.SetRaw(jobspec, at, `{"properties":`+requires.Raw+`}`)
	}
	return jobspec, nil
}
