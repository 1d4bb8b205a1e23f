// SPDX-License-Identifier: LGPL-3.0-or-later

package reserve

import (
	"encoding/json"
	"errors"
	"fmt"

	"flux-burrow/hooks/wire"
)

// Key is where the book is kept in the KVS.
const Key = "burrow.reservations"

// version is that of the form in the KVS.
const version = 1

// stored is a reservation in the KVS. Which nodes it means is worked out anew.
type stored struct {
	Name       string          `json:"name"`
	Nodes      string          `json:"nodes,omitempty"`
	Constraint json.RawMessage `json:"constraint,omitempty"`
	Rabbits    []string        `json:"rabbits,omitempty"`
	Start      float64         `json:"start"`
	End        float64         `json:"end"`
	Reason     string          `json:"reason,omitempty"`
	Users      []int64         `json:"users,omitempty"`
}

// Encode writes the book for the KVS.
func (b *Book) Encode() string {
	out := struct {
		Version      int      `json:"version"`
		Reservations []stored `json:"reservations"`
	}{version, make([]stored, len(b.list))}
	for i, r := range b.list {
		out.Reservations[i] = stored{
			Name: r.Name, Nodes: r.Nodes, Constraint: json.RawMessage(r.Constraint), Rabbits: r.Rabbits,
			Start: r.Start, End: r.End, Reason: r.Reason, Users: r.Users,
		}
	}
	return wire.Encode(out)
}

// Decode reads what Encode wrote. An entry that can't be taken is left out, with
// an error that names it; keys that are not known are passed over.
func Decode(text string) (Book, []error) {
	var b Book
	var in struct {
		Version      int               `json:"version"`
		Reservations []json.RawMessage `json:"reservations"`
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return b, []error{fmt.Errorf("can't be read: %w", err)}
	}
	if in.Version != version {
		return b, []error{fmt.Errorf("version %d is not known", in.Version)}
	}
	var faults []error
	for i, raw := range in.Reservations {
		if err := b.take(raw); err != nil {
			faults = append(faults, fmt.Errorf("reservation %s is dropped: %w", label(raw, i), err))
		}
	}
	return b, faults
}

func (b *Book) take(raw json.RawMessage) error {
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	r := &Reservation{
		Name: s.Name, Nodes: s.Nodes, Constraint: text(s.Constraint), Rabbits: s.Rabbits,
		Start: s.Start, End: s.End, Reason: s.Reason, Users: s.Users,
	}
	if err := r.read(); err != nil {
		return err
	}
	if b.Get(r.Name) != nil {
		return errors.New("there is another of that name")
	}
	b.insert(r)
	return nil
}

// label is how a message names an entry: by its name if it has one, else by its
// place.
func label(raw json.RawMessage, i int) string {
	var s struct {
		Name any `json:"name"`
	}
	if json.Unmarshal(raw, &s) == nil {
		if name, ok := s.Name.(string); ok && checkName(name) == nil {
			return name
		}
	}
	return fmt.Sprintf("number %d", i+1)
}

// text is a constraint as JSON text; null is none.
func text(raw json.RawMessage) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
