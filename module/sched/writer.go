// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"

	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/jgf"
)

// Writer is the form of the R that is written, in Fluxion's words.
type Writer int

const (
	// RV1Exec is R without a scheduling key, which RFC 20 asks of nobody.
	RV1Exec Writer = iota
	// RV1 is R as Fluxion writes it by its match format rv1: with the graph of
	// what the job holds, and with an expiration always.
	RV1
)

var writerNames = [...]string{"rv1exec", "rv1"}

func (w Writer) String() string { return writerNames[w] }

// never is the expiration that Fluxion writes for a job without a time limit:
// the last second that its clock can tell. It takes an R with such an
// expiration at any time, one without only in half of them: adding starttime to
// what it computes as the duration may pass the end of its numbers.
const never = 9223372036

// scribe writes R.
type scribe struct {
	graphs *jgf.Writer // nil: rv1exec
}

func newScribe(w Writer, inv *rv1reader.Inventory) (scribe, error) {
	if w == RV1Exec {
		return scribe{}, nil
	}
	graphs, err := jgf.New(inv, jgf.Options{})
	if err != nil {
		return scribe{}, fmt.Errorf("writer=%s: %w", w, err)
	}
	return scribe{graphs}, nil
}

// write returns the R of an allocation, and what it holds in short. With an
// error R is whole but for its graph: no job waits for that.
func (s scribe) write(p *resource.Pool, a *resource.Alloc, now float64) (text, short string, err error) {
	r := p.R(a, now)
	if s.graphs != nil {
		if r.Expiration == 0 {
			r.Expiration = never
		}
		r.Scheduling, err = s.graphs.FromR(r)
	}
	return string(r.Encode()), r.Short(), err
}
