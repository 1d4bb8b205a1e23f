// SPDX-License-Identifier: LGPL-3.0-or-later

package reserve

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Book is a list of reservations. The zero Book is empty. A Book that shares
// its list with another is made by Clone, not by assignment.
type Book struct {
	list []*Reservation // by start, then name
}

// Len returns how many there are.
func (b *Book) Len() int { return len(b.list) }

// List returns all, by start, then name: those that are over too, until they
// are pruned. The list is not the caller's to change.
func (b *Book) List() []*Reservation { return b.list }

// Get returns the one of that name; nil if there is none. It may be over.
func (b *Book) Get(name string) *Reservation {
	if i := b.index(name); i >= 0 {
		return b.list[i]
	}
	return nil
}

func (b *Book) index(name string) int {
	return slices.IndexFunc(b.list, func(r *Reservation) bool { return r.Name == name })
}

// Clone returns a copy that changes by itself.
func (b *Book) Clone() Book { return Book{slices.Clone(b.list)} }

// Add puts a reservation in. All of its nodes must be there, and be in no other
// at the same time. It takes the place of one of the same name that is over.
func (b *Book) Add(r Reservation, nodes Nodes, now float64) error {
	if err := r.read(); err != nil {
		return err
	}
	if r.End <= now {
		return invalid("duration: it is over at %s, which is past", clock(r.End))
	}
	old := b.index(r.Name)
	if old >= 0 && b.list[old].End > now {
		return refuse(syscall.EEXIST, "name: there is a reservation %s, from %s to %s", r.Name, clock(b.list[old].Start), clock(b.list[old].End))
	}
	r.resolve(nodes)
	switch {
	case r.Missing != "" && r.ranks != nil:
		return invalid("nodes: there is no rank %s", r.Missing)
	case r.Missing != "":
		return invalid("nodes: there is no host %s", r.Missing)
	case r.Ranks.Empty() && r.expr != nil:
		return invalid("constraint: no node matches %s", r.Constraint)
	case r.Ranks.Empty():
		return invalid("nodes: %q is empty", r.Nodes)
	}
	for i, o := range b.list {
		if i != old && r.overlaps(o) {
			return refuse(syscall.EEXIST, "rank %s has the reservation %s from %s to %s",
				r.Ranks.Intersect(o.Ranks), o.Name, clock(o.Start), clock(o.End))
		}
	}
	if old >= 0 {
		b.list = slices.Delete(b.list, old, old+1)
	}
	b.insert(&r)
	return nil
}

func (b *Book) insert(r *Reservation) {
	i, _ := slices.BinarySearchFunc(b.list, r, func(a, b *Reservation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Name, b.Name))
	})
	b.list = slices.Insert(b.list, i, r)
}

// Remove takes one out.
func (b *Book) Remove(name string) error {
	i := b.index(name)
	if i < 0 {
		return refuse(syscall.ENOENT, "there is no reservation %q", name)
	}
	b.list = slices.Delete(b.list, i, i+1)
	return nil
}

// Next returns when the next one begins or ends; +Inf if none does.
func (b *Book) Next(now float64) float64 {
	next := math.Inf(1)
	for _, r := range b.list {
		if r.Start > now {
			next = min(next, r.Start)
		} else if r.End > now {
			next = min(next, r.End)
		}
	}
	return next
}

// clock writes a time for a message.
func clock(at float64) string {
	sec, frac := math.Modf(at)
	return time.Unix(int64(sec), int64(frac*1e9)).Format(time.RFC3339)
}
