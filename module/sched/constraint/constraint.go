// SPDX-License-Identifier: LGPL-3.0-or-later

// Package constraint reads the constraints of jobs (RFC 31): properties,
// hostlist, ranks, and, or, not. What an expression means for a given set of
// nodes is worked out by [Eval] over whatever kind of set the caller has.
package constraint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// Limits of one expression, far above what people write.
const (
	maxDepth  = 64
	maxHosts  = 1 << 20
	maxValues = 1 << 16
)

type op int

const (
	opAll op = iota // the empty expression: any node
	opProperty
	opHosts
	opRanks
	opAnd
	opOr
	opNot
)

// Expr is a constraint that was read. It does not change.
type Expr struct {
	op    op
	name  string // opProperty
	hosts *hostlist.List
	ranks *idset.Set
	args  []*Expr // opAnd, opOr; opNot has one
	text  string
}

// String gives the expression as it stood in the jobspec.
func (e *Expr) String() string {
	if e == nil {
		return "{}"
	}
	return e.text
}

// Parse reads a constraint. The empty object matches any node. An operator or
// a value that RFC 31 does not know is an error that names it.
func Parse(in []byte) (*Expr, error) {
	if !gjson.ValidBytes(in) {
		return nil, errors.New("not JSON")
	}
	e, err := parse(gjson.ParseBytes(in), 0)
	if err != nil {
		return nil, err
	}
	e.text = string(in)
	return e, nil
}

func parse(v gjson.Result, depth int) (*Expr, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	if !v.IsObject() {
		return nil, fmt.Errorf("%s is not an object", cut(v.Raw))
	}
	all := &Expr{op: opAnd}
	var fault error
	v.ForEach(func(key, value gjson.Result) bool {
		var e *Expr
		if e, fault = operator(key.Str, value, depth); fault != nil {
			fault = fmt.Errorf("%s: %w", cut(key.Str), fault)
			return false
		}
		all.args = append(all.args, e)
		return true
	})
	if fault != nil {
		return nil, fault
	}
	if len(all.args) == 1 {
		return all.args[0], nil
	}
	return all, nil
}

func operator(name string, value gjson.Result, depth int) (*Expr, error) {
	switch name {
	case "properties":
		return properties(value)
	case "hostlist":
		list := &hostlist.List{}
		err := each(value, func(s string) error {
			part, err := hostlist.ParseMax(s, maxHosts)
			if err != nil {
				return err
			}
			if list.Len()+part.Len() > maxHosts {
				return fmt.Errorf("more than %d hosts", maxHosts)
			}
			list.AppendList(part)
			return nil
		})
		return &Expr{op: opHosts, hosts: list}, err
	case "ranks":
		set := &idset.Set{}
		err := each(value, func(s string) error {
			part, err := idset.Parse(s)
			if err == nil {
				set.AddSet(part)
			}
			return err
		})
		return &Expr{op: opRanks, ranks: set}, err
	case "and":
		return nested(opAnd, value, depth)
	case "or":
		return nested(opOr, value, depth)
	case "not":
		e, err := nested(opAnd, value, depth)
		return &Expr{op: opNot, args: []*Expr{e}}, err
	}
	return nil, errors.New("no such operator: RFC 31 has properties, hostlist, ranks, and, or, not")
}

func properties(value gjson.Result) (*Expr, error) {
	e := &Expr{op: opAnd}
	err := each(value, func(s string) error {
		name, negated := strings.CutPrefix(s, "^")
		if name == "" || strings.ContainsAny(name, "!&'\"^`|()") {
			return fmt.Errorf("%q is not the name of a property (RFC 20)", cut(s))
		}
		p := &Expr{op: opProperty, name: name}
		if negated {
			p = &Expr{op: opNot, args: []*Expr{p}}
		}
		e.args = append(e.args, p)
		return nil
	})
	return e, err
}

func nested(o op, value gjson.Result, depth int) (*Expr, error) {
	if !value.IsArray() {
		return nil, fmt.Errorf("%s is not a list", cut(value.Raw))
	}
	e := &Expr{op: o}
	var fault error
	value.ForEach(func(_, v gjson.Result) bool {
		var arg *Expr
		if arg, fault = parse(v, depth+1); fault != nil {
			return false
		}
		e.args = append(e.args, arg)
		return true
	})
	if fault != nil {
		return nil, fault
	}
	if o == opOr && len(e.args) == 0 {
		return &Expr{op: opAll}, nil // RFC 31: {"or": []} matches anything
	}
	return e, nil
}

// each calls f for the strings of a list; a single string counts as a list of
// one, as flux-core has it.
func each(value gjson.Result, f func(string) error) error {
	if value.Type == gjson.String {
		return f(value.Str)
	}
	if !value.IsArray() {
		return fmt.Errorf("%s is not a list of strings", cut(value.Raw))
	}
	var fault error
	n := 0
	value.ForEach(func(_, v gjson.Result) bool {
		if n++; n > maxValues {
			fault = fmt.Errorf("more than %d values", maxValues)
			return false
		}
		if v.Type != gjson.String {
			fault = fmt.Errorf("%s is not a string", cut(v.Raw))
			return false
		}
		fault = f(v.Str)
		return fault == nil
	})
	return fault
}

func cut(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
