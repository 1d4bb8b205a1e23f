// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// R is a resource set in version 1 of its format (RFC 20), as read. What it
// points to is shared and must not be changed; the fields may be replaced.
type R struct {
	// Set holds the resources of R_lite. Ranks without any child are not in it.
	Set *ResourceSet
	// Ranks are all ranks that R_lite names, with children or without. They
	// stand one-to-one, in rising order, for the hosts of Nodelist.
	Ranks *idset.Set
	// Nodelist has the host of each rank; nil if R has no nodelist.
	Nodelist *hostlist.List
	// Properties in the order of R, a `+local` name or a `name@suffix` as it is
	// written.
	Properties []Property
	// NSlots is the number of task slots; 0 if R does not say.
	NSlots int
	// Starttime and Expiration in seconds since 1970; 0 stands for none, and is
	// what a missing or negative value reads as.
	Starttime, Expiration float64
	// Scheduling is the scheduling key as it stands in R, not looked into; nil
	// if there is none.
	Scheduling []byte
	// Broken tells that Read found faults: what stood in the faulty parts is not
	// in the other fields.
	Broken bool
	// Warnings are what RFC 20 forbids, flux-core lets pass, and so does Read.
	Warnings []*Fault
}

// Property is a name and the ranks that have it (RFC 20, properties).
type Property struct {
	Name  string
	Ranks *idset.Set
}

// Host returns the host name of a rank; "" if R does not say. It costs the
// number of runs of Ranks; an Inventory does it quicker.
func (r *R) Host(rank int) string {
	if r.Nodelist.Len() != r.Ranks.Count() {
		return ""
	}
	n := 0
	for run := range r.Ranks.Runs() {
		if run.Lo <= rank && rank <= run.Hi {
			return r.Nodelist.At(n + rank - run.Lo)
		}
		n += run.Hi - run.Lo + 1
	}
	return ""
}

// PropertyRanks returns the ranks that have a property; nil if R does not know
// it. Not to be changed.
func (r *R) PropertyRanks(name string) *idset.Set {
	for _, p := range r.Properties {
		if p.Name == name {
			return p.Ranks
		}
	}
	return nil
}

// Short gives the form of `flux R decode --short`:
// rank[0-3]/core[0-7],gpu[0-1] rank[4-5]/core[0-15]. Always by rank, where
// flux-core keeps the order of R_lite if there is no nodelist.
func (r *R) Short() string { return r.Set.String() }
