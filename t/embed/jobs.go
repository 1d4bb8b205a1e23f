// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import "sort"

func sortInts(s []int) { sort.Ints(s) }

// Job is what can be seen of a job.
type Job struct {
	ID       JobID
	State    State
	Ranks    []int // of its R
	R        string
	Priority int64
	Holds    int // prolog or epilog actions that are not finished
}

// Job gives a job that the job manager knows.
func (in *Instance) Job(id JobID) (Job, bool) {
	j := in.jm.find(id)
	if j == nil {
		return Job{}, false
	}
	return Job{ID: id, State: j.state, Ranks: ranksOfR(j.r), R: j.r, Priority: j.priority, Holds: j.perilog}, true
}

// State gives a job's state, 0 for one that is not known.
func (in *Instance) State(id JobID) State {
	if j := in.jm.find(id); j != nil {
		return j.state
	}
	return 0
}

// Active gives the jobs that are not inactive, in the order of submission.
func (in *Instance) Active() []JobID {
	ids := []JobID{}
	for _, j := range in.jm.active {
		ids = append(ids, j.id)
	}
	sortIDs(ids)
	return ids
}

// Idle tells whether no job is active.
func (in *Instance) Idle() bool { return len(in.jm.active) == 0 }

// Eventlog gives a job's events so far, committed or not; of a job that the
// job manager does not know, what is committed.
func (in *Instance) Eventlog(id JobID) []Event {
	var events []Event
	if j := in.jm.find(id); j != nil {
		for _, e := range j.eventlog {
			events = append(events, *e)
		}
		return events
	}
	list, _ := parseEvents(in.kvs.data[jobKey(id, "eventlog")])
	for _, e := range list {
		events = append(events, *e)
	}
	return events
}

// PostEvent posts an event to a job, as a plugin or an operator can.
func (in *Instance) PostEvent(id JobID, name, context string) bool {
	j := in.jm.byID[id]
	if j == nil {
		return false
	}
	return in.jm.postEntry(j, &Event{Time: in.Now(), Name: name, Context: context}, false)
}

// journal is where events are seen from outside.
func (in *Instance) journal(j *job, e *Event, volatile bool) {
	if in.opts.OnEvent != nil && !volatile {
		in.opts.OnEvent(j.id, *e)
	}
}
