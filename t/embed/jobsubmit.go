// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"errors"
	"fmt"
	"syscall"
)

// submitJob takes a job that the ingest module has put into the KVS
// (submit.c). Its events are held until its submit event is committed.
func (jm *jobManager) submitJob(j *job) error {
	if _, text := jm.in.queues.lookup(j.queueName()); text != "" {
		return errors.New(text)
	}
	jm.insert(j)
	jm.postEntry(j, &Event{Time: j.tSubmit, Name: "submit",
		Context: fmt.Sprintf(`{"userid":%d,"urgency":%d,"flags":%d,"version":1}`, j.userid, j.urgency, j.flags)}, false)
	for _, topic := range []string{"job.create", "job.validate"} {
		if text, ok := jm.callEarly(j, topic); !ok {
			jm.postVolatile(j, "invalidate", "")
			jm.call(j, "job.destroy", "")
			jm.remove(j)
			return errors.New(text)
		}
	}
	jm.call(j, "job.new", "")
	jm.batch.start()
	j.hold = true
	jm.batch.jobs = append(jm.batch.jobs, j)
	jm.post(j, "validate", "")
	return nil
}

// Submit submits a job as flux-submit(1) and the ingest module do, and gives
// its id. The job lives as the loop turns.
func (in *Instance) Submit(spec Jobspec) (JobID, error) {
	return in.SubmitJSON(spec.JSON(), spec.Urgency, in.opts.Owner)
}

// SubmitJSON is Submit with a jobspec (RFC 25). Urgency 0 means the default,
// 16; a negative one is a hold.
func (in *Instance) SubmitJSON(jobspec string, urgency int, userid uint32) (JobID, error) {
	if !in.jm.up {
		return 0, &Error{Num: syscall.ENOSYS, Text: noService("job-manager.submit")}
	}
	jobspec, err := in.constrain(jobspec)
	if err != nil {
		return 0, err
	}
	id := in.newJobID()
	j := newJob(id)
	j.jobspec, j.userid, j.tSubmit = jobspec, userid, in.Now()
	switch {
	case urgency > 0:
		j.urgency = urgency
	case urgency < 0:
		j.urgency = 0
	}
	in.kvs.apply([]txnOp{{key: j.key("jobspec"), value: jobspec}})
	if err := in.jm.submitJob(j); err != nil {
		in.kvs.apply([]txnOp{{key: j.key("jobspec"), unlink: true}})
		return 0, err
	}
	return id, nil
}

// submitRequest is the RPC of the ingest module.
func (jm *jobManager) submitRequest(r *Request) {
	jobs := jsonGet(r.Payload(), "jobs").Array()
	errs := [][]any{}
	for _, o := range jobs {
		j := newJob(o.Get("id").Uint())
		j.urgency, j.userid = int(o.Get("urgency").Int()), uint32(o.Get("userid").Uint())
		j.tSubmit, j.flags = o.Get("t_submit").Float(), int(o.Get("flags").Int())
		j.jobspec = o.Get("jobspec").Raw
		if err := jm.submitJob(j); err != nil {
			errs = append(errs, []any{j.id, err.Error()})
		}
	}
	r.Msg.incref()
	jm.batch.start()
	jm.batch.after = append(jm.batch.after, func() {
		r.RespondJSON(map[string]any{"errors": errs})
		r.Msg.decref()
	})
}

// newJobID makes ids as fluids are made: 24 bits below the milliseconds since
// the instance began.
func (in *Instance) newJobID() JobID {
	id := JobID(in.Elapsed().Milliseconds()+100) << 24
	if id <= in.lastID {
		id = in.lastID + 1
	}
	in.lastID = id
	return id
}
