// SPDX-License-Identifier: LGPL-3.0-or-later

// Package reserve keeps advance reservations: nodes that are set aside from a
// time, for a time, for maintenance or for some users. It is data only: what a
// reservation means for jobs is the scheduler's.
package reserve

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"flux-burrow/module/sched/constraint"
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// Limits, far above what people write.
const (
	maxName   = 64
	maxReason = 1024
	maxHosts  = 1 << 20
	maxUser   = 1<<32 - 2
	// maxTime is the last second that the clocks of others can tell (2262).
	maxTime = 9223372036
)

// Reservation is one advance reservation. One that a Book gave out does not
// change.
type Reservation struct {
	Name string
	// Nodes are the nodes as they were asked for: an idset of ranks, or else a
	// hostlist. Constraint (RFC 31, JSON) is the other way to ask: just one of
	// the two is set.
	Nodes      string
	Constraint string
	Rabbits    []string
	// Start and End are in seconds since 1970; End is not part of it.
	Start, End float64
	Reason     string
	// Users are the user ids whose jobs may run in it, in rising order; with
	// none it is maintenance.
	Users []int64

	// Ranks are the nodes that these are now, Missing those of Nodes that are
	// not in the instance. A Book works them out.
	Ranks   *idset.Set
	Missing string

	ranks *idset.Set // Nodes or Constraint when read: one of these
	hosts *hostlist.List
	expr  *constraint.Expr
}

// State is where a reservation is in time.
type State int

// The states, in order.
const (
	Waiting State = iota
	Active
	Over
)

func (s State) String() string { return [...]string{"waiting", "active", "over"}[s] }

// State returns where it is at a time.
func (r *Reservation) State(now float64) State {
	switch {
	case now < r.Start:
		return Waiting
	case now < r.End:
		return Active
	}
	return Over
}

// For tells whether jobs of a user may run in it.
func (r *Reservation) For(user int64) bool {
	_, found := slices.BinarySearch(r.Users, user)
	return found
}

// overlaps tells whether two have a node at the same time.
func (r *Reservation) overlaps(o *Reservation) bool {
	return r.Start < o.End && o.Start < r.End && r.Ranks.Overlaps(o.Ranks)
}

// refusal is why something can't be. It carries an errno for the answer.
type refusal struct {
	num  syscall.Errno
	text string
}

func (f *refusal) Error() string { return f.text }

// Unwrap gives the errno.
func (f *refusal) Unwrap() error { return f.num }

func refuse(num syscall.Errno, format string, args ...any) error {
	return &refusal{num, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return refuse(syscall.EINVAL, format, args...) }

// read checks all that can be told from the reservation alone, and reads which
// nodes it asks for.
func (r *Reservation) read() error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	switch {
	case math.IsNaN(r.Start) || r.Start < 0 || r.Start > maxTime:
		return invalid("start: %g is no time in seconds since 1970", r.Start)
	case math.IsNaN(r.End) || r.End <= r.Start:
		return invalid("duration: %g is not more than 0 seconds", r.End-r.Start)
	case r.End > maxTime:
		return invalid("duration: %g seconds end after the year 2262", r.End-r.Start)
	case len(r.Reason) > maxReason:
		return invalid("reason: it has %d bytes: at most %d", len(r.Reason), maxReason)
	case !plain(r.Reason):
		return invalid("reason: %q is not one line of text", r.Reason)
	}
	for _, name := range r.Rabbits {
		if name == "" || !plain(name) {
			return invalid("rabbits: %q is no name", name)
		}
	}
	for _, user := range r.Users {
		if user < 0 || user > maxUser {
			return invalid("users: %d is no user id", user)
		}
	}
	// Those that were given are the caller's.
	r.Users = slices.Clone(r.Users)
	slices.Sort(r.Users)
	r.Users = slices.Compact(r.Users)
	r.Rabbits = slices.Clone(r.Rabbits)
	return r.readNodes()
}

func (r *Reservation) readNodes() error {
	r.ranks, r.hosts, r.expr = nil, nil, nil
	switch {
	case r.Nodes != "" && r.Constraint != "":
		return invalid("both nodes and constraint are given: it takes one of them")
	case r.Constraint != "":
		var err error
		if !json.Valid([]byte(r.Constraint)) {
			return invalid("constraint: not JSON")
		}
		if r.expr, err = constraint.Parse([]byte(r.Constraint)); err != nil {
			return invalid("constraint: %s", err)
		}
		return nil
	case r.Nodes == "":
		return invalid("neither nodes nor constraint is given")
	}
	var err error
	if r.ranks, err = idset.Parse(r.Nodes); err == nil {
		return nil
	}
	r.ranks = nil
	if strings.Trim(r.Nodes, "[]0123456789-, ") == "" {
		return invalid("nodes: %s", err) // meant as ranks
	}
	if r.hosts, err = hostlist.ParseMax(r.Nodes, maxHosts); err != nil {
		return invalid("nodes: %s", err)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return invalid("name: it is empty")
	case len(name) > maxName:
		return invalid("name: %q... has %d bytes: at most %d", strings.ToValidUTF8(name[:maxName], ""), len(name), maxName)
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c)) {
			return invalid("name: %q has %q: it takes letters, digits and any of . _ -", name, c)
		}
	}
	return nil
}

// plain tells whether a text can be shown on one line.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
