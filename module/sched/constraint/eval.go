// SPDX-License-Identifier: LGPL-3.0-or-later

package constraint

import (
	"iter"

	"flux-burrow/rv1reader/idset"
)

// Sets is what Eval needs of the caller's nodes. S is a set of nodes. Only the
// sets that New returned are changed, by And, Or and Not.
type Sets[S any] interface {
	// New gives a new set, of every node or of none.
	New(all bool) S
	// Property adds to s the nodes that have a property.
	Property(s S, name string)
	// Hosts adds to s the nodes with one of these names.
	Hosts(s S, hosts iter.Seq2[int, string])
	// Ranks adds to s the nodes at these ranks.
	Ranks(s S, ranks *idset.Set)
	// And leaves in s what is also in o, Or adds o to s, Not turns s around.
	And(s, o S)
	Or(s, o S)
	Not(s S)
}

// Eval gives the set of nodes that match e. A nil e matches every node.
func Eval[S any](e *Expr, sets Sets[S]) S {
	if e == nil {
		return sets.New(true)
	}
	switch e.op {
	case opProperty:
		s := sets.New(false)
		sets.Property(s, e.name)
		return s
	case opHosts:
		s := sets.New(false)
		sets.Hosts(s, e.hosts.All())
		return s
	case opRanks:
		s := sets.New(false)
		sets.Ranks(s, e.ranks)
		return s
	case opAnd:
		s := sets.New(true)
		for _, arg := range e.args {
			sets.And(s, Eval(arg, sets))
		}
		return s
	case opOr:
		s := sets.New(false)
		for _, arg := range e.args {
			sets.Or(s, Eval(arg, sets))
		}
		return s
	case opNot:
		s := Eval(e.args[0], sets)
		sets.Not(s)
		return s
	}
	return sets.New(true)
}
