// SPDX-License-Identifier: LGPL-3.0-or-later

package queue

import (
	"encoding/binary"
	"math"

	"flux-burrow/module/sched/jobspec"
	"flux-burrow/module/sched/resource"
)

// Shape is what jobs have in common that ask for the same: resources,
// constraint, queue and limit. What a pass finds out for one of them holds for
// all, and is kept for the next pass.
type Shape struct {
	Request *jobspec.Request
	// UserID is of the jobs' user where they name an advance reservation, which
	// is not open to all; else 0.
	UserID int64
	// Failed is the version of the plan at which none of the shape's jobs found
	// a place; see package policy.
	Failed uint64

	key  string
	jobs int

	scope      resource.Scope
	fault      error
	generation uint64
	checked    bool

	parked   bool
	ups      uint64
	askedUps bool
}

// Rules are what of the configuration matters for whether a shape fits.
type Rules interface {
	// Whole gives the nodes that are given out whole to a queue's jobs: all of
	// them, or those of a set; nil for none.
	Whole(queue string) (all bool, nodes resource.Bits)
}

// Check returns the nodes that jobs of the shape may have, and an error in
// words if they can never be satisfied. The answer is kept until the pool's
// inventory changes, or Forget is called.
func (s *Shape) Check(p *resource.Pool, rules Rules) (resource.Scope, error) {
	if !s.checked || s.generation != p.Generation() {
		s.scope = resource.Scope{Within: p.Match(s.Request.Constraint)}
		if rules != nil {
			s.scope.AllWhole, s.scope.Whole = rules.Whole(s.Request.Queue)
		}
		s.scope.AllWhole = s.scope.AllWhole || s.Request.Exclusive
		s.fault = p.Feasible(s.Request, s.scope)
		s.generation, s.checked, s.askedUps = p.Generation(), true, false
	}
	return s.scope, s.fault
}

// Sound tells whether Check was made for the pool as it is, and found no fault.
func (s *Shape) Sound(p *resource.Pool) bool {
	return s.checked && s.generation == p.Generation() && s.fault == nil
}

// Parked tells whether the nodes that are up could not satisfy the shape, were
// they all free. Check comes first.
func (s *Shape) Parked(p *resource.Pool) bool {
	if !s.askedUps || s.ups != p.Ups() {
		s.parked = !p.FeasibleUp(s.Request, s.scope)
		s.ups, s.askedUps = p.Ups(), true
	}
	return s.parked
}

// Forget drops what is known, as the configuration has changed.
func (s *Shape) Forget() { s.checked, s.Failed = false, 0 }

// shapeKey is equal for requests that are.
func shapeKey(r *jobspec.Request, userID int64) string {
	b := make([]byte, 0, 128)
	for _, c := range []jobspec.Count{r.Nodes, r.Slots, r.Cores, r.GPUs} {
		b = c.AppendKey(b)
		b = append(b, ';')
	}
	b = binary.AppendVarint(b, int64(r.SlotNodes))
	if r.Exclusive {
		b = append(b, 'x')
	}
	b = binary.AppendUvarint(b, math.Float64bits(r.Duration))
	for _, s := range []string{r.Queue, r.Reservation, r.Constraint.String()} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	if r.Reservation != "" {
		b = binary.AppendVarint(b, userID)
	}
	return string(b)
}

// Shape returns the shape of a request. One that no job in the queue has is
// kept only when a job of it is added.
func (q *Queue) Shape(r *jobspec.Request, userID int64) *Shape {
	key := shapeKey(r, userID)
	if s := q.shapes[key]; s != nil {
		return s
	}
	if r.Reservation == "" {
		userID = 0
	}
	return &Shape{Request: r, UserID: userID, key: key}
}

// Forget drops what is known of all shapes.
func (q *Queue) Forget() {
	for _, s := range q.shapes {
		s.Forget()
	}
}

func (q *Queue) joined(s *Shape) *Shape {
	if q.shapes == nil {
		q.shapes = map[string]*Shape{}
	}
	if known := q.shapes[s.key]; known != nil {
		s = known
	}
	q.shapes[s.key] = s
	s.jobs++
	return s
}

func (q *Queue) left(s *Shape) {
	if s.jobs--; s.jobs == 0 {
		delete(q.shapes, s.key)
	}
}
