// SPDX-License-Identifier: LGPL-3.0-or-later

// Package queue keeps the jobs that wait for resources, in the order in which
// they are considered: higher priority first, among equals the older job.
package queue

import (
	"sort"

	"flux-burrow/hooks/jobid"
)

// Held is the priority of a job that is not to be started (RFC 27 priorities
// are 0 to 4294967295; job-manager uses 0 for held).
const Held = 0

// Job is a job that waits.
type Job struct {
	ID       jobid.ID
	Priority int64
	UserID   int64
	TSubmit  float64 // seconds since 1970
	*Shape
	// Reserved tells that the plan has a place for it.
	Reserved bool
}

// Queue is the jobs in order. The zero Queue is empty.
type Queue struct {
	jobs   []*Job
	byID   map[jobid.ID]*Job
	shapes map[string]*Shape
}

// Before tells whether a comes before b.
func Before(a, b *Job) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

func (q *Queue) at(j *Job) int {
	return sort.Search(len(q.jobs), func(i int) bool { return !Before(q.jobs[i], j) })
}

// Len returns the number of jobs.
func (q *Queue) Len() int { return len(q.jobs) }

// Jobs returns the jobs in order. The list is the queue's own: it is not to be
// changed, and holds until the queue is.
func (q *Queue) Jobs() []*Job { return q.jobs }

// Get returns the job with an id; nil if it does not wait.
func (q *Queue) Get(id jobid.ID) *Job { return q.byID[id] }

// Add puts a job in the queue; false if one with its id is there.
func (q *Queue) Add(j *Job) bool {
	if q.byID[j.ID] != nil {
		return false
	}
	if q.byID == nil {
		q.byID = map[jobid.ID]*Job{}
	}
	q.byID[j.ID] = j
	j.Shape = q.joined(j.Shape)
	i := q.at(j)
	q.jobs = append(q.jobs, nil)
	copy(q.jobs[i+1:], q.jobs[i:])
	q.jobs[i] = j
	return true
}

// Remove takes a job out and returns it; nil if it does not wait.
func (q *Queue) Remove(id jobid.ID) *Job {
	j := q.byID[id]
	if j == nil {
		return nil
	}
	delete(q.byID, id)
	q.left(j.Shape)
	i := q.at(j)
	copy(q.jobs[i:], q.jobs[i+1:])
	q.jobs[len(q.jobs)-1] = nil
	q.jobs = q.jobs[:len(q.jobs)-1]
	return j
}

// Prioritize gives jobs new priorities and puts them where they belong then.
// Ids that do not wait are passed over; it returns how many did.
func (q *Queue) Prioritize(priorities map[jobid.ID]int64) int {
	n := 0
	for id, priority := range priorities {
		if j := q.byID[id]; j != nil {
			j.Priority = priority
			n++
		}
	}
	if n > 0 {
		sort.Slice(q.jobs, func(a, b int) bool { return Before(q.jobs[a], q.jobs[b]) })
	}
	return n
}
