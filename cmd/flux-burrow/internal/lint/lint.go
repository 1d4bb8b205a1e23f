// SPDX-License-Identifier: LGPL-3.0-or-later

// Package lint says what is wrong in an R or in a configuration, and where.
package lint

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/go-multierror"

	"flux-burrow/rv1reader"
)

// Report is what was found in one input.
type Report struct {
	Name   string
	Faults int
	// Text has a line for each thing found, or one that says that all is well.
	Text string
}

type report struct {
	Report
	b strings.Builder
}

func (r *report) add(format string, args ...any) { fmt.Fprintf(&r.b, format+"\n", args...) }

func (r *report) done() Report {
	r.Text = r.b.String()
	return r.Report
}

// R checks an R. Warnings are what RFC 20 forbids and Flux lets pass.
func R(name string, data []byte) Report {
	rep := &report{Report: Report{Name: name}}
	r, err := rv1reader.Read(data)
	faults, warnings := unfold(err), r.Warnings
	rep.Faults = Faults(err)
	for _, f := range faults {
		rep.add("%s: error: %v", place(name, data, f), f)
	}
	for _, f := range warnings {
		rep.add("%s: warning: %v", place(name, data, f), f)
	}
	if len(faults) == 0 {
		rep.add("%s: ok: %s", name, summary(r))
	}
	return rep.done()
}

// Faults returns how many faults an error of rv1reader.Read stands for, those
// that it does not list among them.
func Faults(err error) int {
	n := 0
	for _, e := range unfold(err) {
		var f *rv1reader.Fault
		if errors.As(e, &f) && f.More > 0 {
			n += f.More
			continue
		}
		n++
	}
	return n
}

// unfold makes a list of an error that may be several.
func unfold(err error) []error {
	var many *multierror.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
		return many.Errors
	}
	return []error{err}
}

// place is NAME:LINE:COLUMN, the column in bytes, of a fault that has one.
func place(name string, data []byte, err error) string {
	var f *rv1reader.Fault
	if !errors.As(err, &f) || f.Offset < 0 || f.Offset > len(data) {
		return name
	}
	before := data[:f.Offset]
	return fmt.Sprintf("%s:%d:%d", name, bytes.Count(before, []byte("\n"))+1, f.Offset-bytes.LastIndexByte(before, '\n'))
}

// maxSummary cuts what an R with many kinds of nodes would print.
const maxSummary = 300

func summary(r *rv1reader.R) string {
	words := []string{Count(r.Ranks.Count(), "node")}
	if r.Nodelist != nil {
		words = append(words, "hosts "+r.Nodelist.Brief(maxSummary))
	}
	if text := r.Short(); text != "" {
		words = append(words, cut(text))
	}
	for _, p := range r.Properties {
		words = append(words, fmt.Sprintf("property %s on %s", p.Name, Count(p.Ranks.Count(), "node")))
	}
	if r.Scheduling != nil {
		words = append(words, fmt.Sprintf("a scheduling key of %d bytes", len(r.Scheduling)))
	}
	return strings.Join(words, ", ")
}

func cut(s string) string {
	if len(s) > maxSummary {
		return s[:maxSummary] + "..."
	}
	return s
}

// Count writes a number of things.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
