// SPDX-License-Identifier: LGPL-3.0-or-later

package jobspec

import (
	"errors"
	"fmt"
	"math"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/constraint"
)

// Request is what a job asks for, in the one shape that every jobspec this
// scheduler takes comes down to: a number of nodes with slots on each, or, if
// the job does not name nodes, a number of slots wherever they fit.
type Request struct {
	// Nodes is how many nodes; the zero Count if the job does not name nodes.
	Nodes Count
	// Slots is how many task slots: on each node if Nodes is given, in all if
	// not.
	Slots Count
	// SlotNodes is how many nodes make up one slot, where the slot is around
	// the nodes and not inside them; else 0.
	SlotNodes int
	// Cores and GPUs are the numbers in one slot (on each node of it, if it
	// has several). GPUs is the zero Count where none are asked for.
	Cores, GPUs Count
	// Exclusive asks for whole nodes.
	Exclusive bool
	// Duration is the time limit in seconds; 0 stands for none.
	Duration float64
	// Queue is the name of the job's queue; "" if there are none.
	Queue string
	// Reservation is the name of the advance reservation that the job is to run
	// in; "" for none.
	Reservation string
	// Constraint limits which nodes will do (RFC 31); nil for any.
	Constraint *constraint.Expr
	// Left lists the types of resource that R version 1 does not describe and
	// that are therefore not looked at, such as ssd.
	Left []string
}

// ByNode tells whether the job asks for nodes, and not for slots anywhere.
func (r *Request) ByNode() bool { return r.Nodes.Min > 0 }

// Share returns how many cores and gpus the request has in the unit in which it
// is counted: a node if it asks for nodes, else a slot.
func (r *Request) Share() (cores, gpus int) {
	if r.ByNode() {
		return r.Slots.Min * r.Cores.Min, r.Slots.Min * r.GPUs.Min
	}
	return r.Cores.Min, r.GPUs.Min
}

// NSlots returns how many slots there are on so many nodes with perNode slots
// on each: what R calls nslots.
func (r *Request) NSlots(nodes, perNode int) int {
	if r.SlotNodes > 0 {
		return nodes / r.SlotNodes
	}
	return nodes * perNode
}

// Parse reads a jobspec. Its version is not looked at: what is not of version
// 1 is taken as far as it is understood, as flux-core does.
func Parse(spec []byte) (*Request, error) {
	if !gjson.ValidBytes(spec) {
		return nil, errors.New("the jobspec is not JSON")
	}
	root := gjson.ParseBytes(spec)
	resources := root.Get("resources")
	if !resources.IsArray() {
		return nil, errors.New("the jobspec has no list of resources")
	}
	w := walker{}
	if err := w.list("resources", resources, level{groups: 1}); err != nil {
		return nil, err
	}
	req, err := w.request()
	if err != nil {
		return nil, err
	}
	return req, req.system(root)
}

// system reads attributes.system.
func (r *Request) system(root gjson.Result) error {
	system := root.Get("attributes.system")
	duration := system.Get("duration")
	if !duration.Exists() && root.Get("version").Num == 1 {
		return errors.New("attributes.system.duration is missing, which version 1 requires")
	}
	switch {
	case !duration.Exists(), duration.Type == gjson.Null:
	case duration.Type != gjson.Number || duration.Num < 0 || math.IsInf(duration.Num, 0):
		return fmt.Errorf("attributes.system.duration: %s is not a number of seconds", short(duration.Raw))
	default:
		r.Duration = duration.Num
	}
	if q := system.Get("queue"); q.Exists() {
		if q.Type != gjson.String {
			return fmt.Errorf("attributes.system.queue: %s is not a string", short(q.Raw))
		}
		r.Queue = q.Str
	}
	if name := system.Get("burrow.reservation"); name.Exists() {
		if name.Type != gjson.String || name.Str == "" {
			return fmt.Errorf("attributes.system.burrow.reservation: %s is not a name", short(name.Raw))
		}
		r.Reservation = name.Str
	}
	if c := system.Get("constraints"); c.Exists() && c.Type != gjson.Null {
		expr, err := constraint.Parse([]byte(c.Raw))
		if err != nil {
			return fmt.Errorf("attributes.system.constraints: %w", err)
		}
		r.Constraint = expr
	}
	return nil
}
