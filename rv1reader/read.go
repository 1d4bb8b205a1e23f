// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"

	"github.com/hashicorp/go-multierror"

	"flux-burrow/rv1reader/idset"
)

// Read reads an R (RFC 20) within the default limits. See ReadLimits.
func Read(data []byte) (*R, error) { return ReadLimits(data, Limits{}) }

// ReadLimits reads an R (RFC 20). It takes what flux-core takes; what the RFC
// forbids all the same is in the Warnings of the result. Time and memory follow
// the length of data, whatever the numbers in it say.
//
// The error, if any, is a *multierror.Error of *Fault, one for each thing that
// is wrong. The R is never nil: with an error it is marked Broken and has what
// could be read. Scheduling is a part of data, not a copy.
func ReadLimits(data []byte, limits Limits) (*R, error) {
	rd := reader{limits: limits.filled(), r: &R{Ranks: &idset.Set{}, Set: &ResourceSet{}}}
	rd.document(data)
	if rd.moreWarnings > 0 {
		rd.r.Warnings = append(rd.r.Warnings, more(rd.moreWarnings, "warnings"))
	}
	if len(rd.faults) == 0 {
		return rd.r, nil
	}
	rd.r.Broken = true
	if rd.moreFaults > 0 {
		rd.faults = append(rd.faults, more(rd.moreFaults, "faults"))
	}
	errs := &multierror.Error{Errors: make([]error, 0, len(rd.faults))}
	for _, f := range rd.faults {
		errs.Errors = append(errs.Errors, f)
	}
	return rd.r, errs
}

func more(n int, what string) *Fault {
	return &Fault{Offset: -1, Pos: -1, Msg: fmt.Sprintf("%d more %s", n, what), More: n}
}

// reader is the state of one ReadLimits. A fault does not stop it: it goes on
// with the next part.
type reader struct {
	limits     Limits
	r          *R
	liteFaulty bool // ranks may be missing: what does not match them is no fault of its own

	faults                   []*Fault
	moreFaults, moreWarnings int
}

func newFault(path string, n node, pos int, format string, args ...any) *Fault {
	f := &Fault{Path: path, Offset: -1, Pos: pos, Msg: fmt.Sprintf(format, args...)}
	if n.in != nil {
		f.Offset = n.start
		if f.Value = string(n.raw()[:min(n.end-n.start, 40)]); n.end-n.start > 40 {
			f.Value += "..."
		}
	}
	return f
}

// fault records a fault of the value n; pos is the place in the string that n
// is, or -1. The zero node is for what is not there.
func (rd *reader) fault(path string, n node, pos int, format string, args ...any) {
	if len(rd.faults) >= rd.limits.MaxFaults {
		rd.moreFaults++
		return
	}
	rd.faults = append(rd.faults, newFault(path, n, pos, format, args...))
}

func (rd *reader) warn(path string, n node, format string, args ...any) {
	if len(rd.r.Warnings) >= rd.limits.MaxFaults {
		rd.moreWarnings++
		return
	}
	rd.r.Warnings = append(rd.r.Warnings, newFault(path, n, -1, format, args...))
}

// fields finds the named members of an object: found[i] is that of names[i].
// As with jansson the last of several counts.
func (rd *reader) fields(path string, n node, names []string, found []node) {
	n.object(func(key, value node) {
		for i, name := range names {
			if !key.is(name) {
				continue
			}
			if found[i].in != nil {
				rd.warn(join(path, name), value, "the key is there more than once, this one counts")
			}
			found[i] = value
		}
	})
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

var topKeys = []string{"version", "execution", "scheduling"}

func (rd *reader) document(data []byte) {
	if e := (&validator{in: data}).document(); e != nil {
		rd.faults = append(rd.faults, &Fault{Offset: e.pos, Pos: -1, Msg: "not JSON: " + e.msg})
		return
	}
	n := root(data)
	if n.kind() != '{' {
		rd.fault("", n, -1, "R is not a JSON object")
		return
	}
	var f [3]node
	rd.fields("", n, topKeys, f[:])
	version, execution, scheduling := f[0], f[1], f[2]
	switch {
	case version.in == nil:
		rd.fault("version", version, -1, "missing")
	case string(version.raw()) != "1":
		rd.fault("version", version, -1, "only version 1 of R is known, an integer")
	}
	if scheduling.in != nil {
		rd.r.Scheduling = scheduling.raw()
		if scheduling.kind() != '{' {
			rd.warn("scheduling", scheduling, "not an object")
		}
	}
	switch {
	case execution.in == nil:
		rd.fault("execution", execution, -1, "missing")
	case execution.kind() != '{':
		rd.fault("execution", execution, -1, "not an object")
	default:
		rd.execution(execution)
	}
}

var executionKeys = []string{"R_lite", "nodelist", "properties", "nslots", "starttime", "expiration"}

func (rd *reader) execution(n node) {
	var f [6]node
	rd.fields("execution", n, executionKeys, f[:])
	rd.lite(f[0])
	rd.nodelist(f[1])
	rd.properties(f[2])
	rd.nslots(f[3])
	rd.r.Starttime = rd.seconds("execution.starttime", f[4])
	rd.r.Expiration = rd.seconds("execution.expiration", f[5])
	if e := rd.r.Expiration; e > 0 && e < rd.r.Starttime {
		rd.warn("execution.expiration", f[5], "before starttime")
	}
}

// ids reads an idset of at most limit ids. It returns nil after a fault.
func (rd *reader) ids(path func() string, n node, limit int) *idset.Set {
	if n.kind() != '"' {
		rd.fault(path(), n, -1, "not a string")
		return nil
	}
	set, err := idset.Parse(unquote(n.raw()))
	if err != nil {
		e := err.(*idset.Error)
		rd.fault(path(), n, e.Pos, "%s", e.Msg)
		return nil
	}
	if set.Count() > limit {
		rd.fault(path(), n, -1, "%d ids, the limit is %d", set.Count(), limit)
		return nil
	}
	return set
}
