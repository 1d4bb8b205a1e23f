// SPDX-License-Identifier: LGPL-3.0-or-later

package reserve

import (
	"encoding/json"

	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// AddRequest is the payload of sched-burrow.reserve-add.
type AddRequest struct {
	Name       string          `json:"name"`
	Nodes      string          `json:"nodes,omitempty"`
	Constraint json.RawMessage `json:"constraint,omitempty"`
	Rabbits    []string        `json:"rabbits,omitempty"`
	Start      float64         `json:"start"`
	Duration   float64         `json:"duration"`
	Reason     string          `json:"reason,omitempty"`
	Users      []int64         `json:"users,omitempty"`
}

// ParseAdd reads the payload of reserve-add. Keys that are not known are an
// error: one that was misspelt would be a reservation of something else.
func ParseAdd(payload string) (Reservation, error) {
	var q AddRequest
	if err := wire.Decode(payload, &q, "name", "start", "duration"); err != nil {
		return Reservation{}, err
	}
	r := Reservation{
		Name: q.Name, Nodes: q.Nodes, Constraint: text(q.Constraint), Rabbits: q.Rabbits,
		Start: q.Start, End: q.Start + q.Duration, Reason: q.Reason, Users: q.Users,
	}
	return r, r.read()
}

// AddResponse is the answer to reserve-add: what was made, and what already
// runs past its beginning there.
type AddResponse struct {
	Name    string     `json:"name"`
	Ranks   *idset.Set `json:"ranks"`
	Hosts   string     `json:"hosts"`
	Start   float64    `json:"start"`
	End     float64    `json:"end"`
	Running []Running  `json:"running"`
}

// Running is a job that holds nodes of a reservation in its time: Ranks of
// them. Expiration is 0 for a job without a time limit.
type Running struct {
	ID         uint64     `json:"id"`
	Ranks      *idset.Set `json:"ranks"`
	Expiration float64    `json:"expiration"`
}

// RemoveRequest is the payload of sched-burrow.reserve-remove.
type RemoveRequest struct {
	Name string `json:"name"`
}

// ParseRemove reads the payload of reserve-remove.
func ParseRemove(payload string) (RemoveRequest, error) {
	var q RemoveRequest
	return q, wire.Decode(payload, &q, "name")
}

// RemoveResponse is the answer to reserve-remove.
type RemoveResponse struct {
	Name string `json:"name"`
}

// ListResponse is the answer to reserve-list, by start, then name.
type ListResponse struct {
	Reservations []Listed `json:"reservations"`
}

// Listed is a reservation as it is now.
type Listed struct {
	Name       string          `json:"name"`
	State      string          `json:"state"`
	Start      float64         `json:"start"`
	End        float64         `json:"end"`
	Nodes      string          `json:"nodes,omitempty"`
	Constraint json.RawMessage `json:"constraint,omitempty"`
	Ranks      *idset.Set      `json:"ranks"`
	Hosts      string          `json:"hosts"`
	Missing    string          `json:"missing,omitempty"`
	Rabbits    []string        `json:"rabbits"`
	Users      []int64         `json:"users"`
	Reason     string          `json:"reason"`
	// Jobs hold nodes of it in its time.
	Jobs []uint64 `json:"jobs"`
}

// List gives a reservation as reserve-list shows it; the caller adds Hosts and
// Jobs.
func (r *Reservation) List(now float64) Listed {
	return Listed{
		Name: r.Name, State: r.State(now).String(), Start: r.Start, End: r.End,
		Nodes: r.Nodes, Constraint: json.RawMessage(r.Constraint), Ranks: r.Ranks, Missing: r.Missing,
		Rabbits: orNone(r.Rabbits), Users: orNone(r.Users), Reason: r.Reason, Jobs: []uint64{},
	}
}

// orNone makes an empty list of none, for JSON.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
