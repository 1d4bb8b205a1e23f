// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"

	"flux-burrow/rv1reader/idset"
)

// ProblemKind says in which way a part of a job's R does not fit the inventory.
type ProblemKind int

const (
	// UnknownRank: the inventory has not got the rank, and the host that R
	// names for it (if it names one) is not there either.
	UnknownRank ProblemKind = iota + 1
	// HostMoved: the host that R names is in the inventory, at other ranks.
	HostMoved
	// HostUnknown: the rank is there with another host, and the host that R
	// names is nowhere: it was renamed or replaced.
	HostUnknown
	// OutOfRange: the rank fits and has not got some of the ids of a type.
	OutOfRange
)

var kindNames = [...]string{UnknownRank: "unknown rank", HostMoved: "host moved",
	HostUnknown: "unknown host", OutOfRange: "out of range"}

func (k ProblemKind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("ProblemKind(%d)", int(k))
}

// Problem is one part of a job's R that does not fit the inventory.
type Problem struct {
	Kind ProblemKind
	// Ranks are the ranks as R names them. It is one rank where Host is set.
	Ranks *idset.Set
	Host  string // the host as R names it; "" if R names none, or does not matter
	// InventoryHost is the host that the inventory has at that rank; "" if none.
	InventoryHost string
	// HostRanks are the ranks at which the inventory has Host, for HostMoved.
	HostRanks []int
	// Type and IDs are what is not there, for OutOfRange.
	Type string
	IDs  *idset.Set
}

// Error says the problem in words.
func (p *Problem) Error() string {
	rank := "rank " + p.Ranks.String()
	if p.Ranks.Count() > 1 {
		rank = "ranks " + p.Ranks.String()
	}
	if p.Host != "" {
		rank += " (" + p.Host + ")"
	}
	switch p.Kind {
	case UnknownRank:
		if p.Host != "" {
			return rank + ": the instance has no such rank and no such host"
		}
		return rank + ": not in the instance"
	case HostMoved:
		now := idset.New(p.HostRanks...).String()
		if p.InventoryHost == "" {
			return fmt.Sprintf("%s: the instance has no such rank, the host is at rank %s now", rank, now)
		}
		return fmt.Sprintf("%s: the host is at rank %s now, and %s where it was", rank, now, p.InventoryHost)
	case HostUnknown:
		return fmt.Sprintf("%s: the instance has no such host, and %s at that rank", rank, p.InventoryHost)
	case OutOfRange:
		return fmt.Sprintf("%s: the instance has no %s%s there", rank, p.Type, p.IDs.Bracketed())
	}
	return rank + ": " + p.Kind.String()
}
