// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"fmt"
	"strings"
)

// Summary is the job's life in one line.
func (c *Chart) Summary() string {
	words := []string{"job " + c.Job}
	if c.Rabbit {
		words[0] = "rabbit " + words[0]
	}
	if len(c.Rows) == 0 {
		return words[0] + " has not got resources"
	}
	if c.submit > 0 && c.Begin >= c.submit {
		words = append(words, "waited "+duration(c.Begin-c.submit))
	}
	for _, r := range c.Rows {
		if r.Kind == Tasks {
			verb := "ran"
			if r.open() {
				verb = "has run"
			}
			words = append(words, verb+" "+duration(r.length()))
		}
	}
	total := "ended " + duration(c.End-c.Begin) + " after it got resources"
	if !c.Over {
		total = "active, " + duration(c.End-c.Begin) + " since it got resources"
	}
	return strings.Join(append(words, total), ", ")
}

func (r *Row) length() float64 {
	var sum float64
	for _, s := range r.Spans {
		sum += s.To - s.From
	}
	return sum
}

func (r *Row) open() bool {
	for _, s := range r.Spans {
		if s.Open {
			return true
		}
	}
	return false
}

// note is what is to be said of a row beside its bars.
func (r *Row) note() string {
	var words []string
	if len(r.Spans) > 1 {
		words = append(words, fmt.Sprintf("%d times", len(r.Spans)))
	}
	if r.open() {
		words = append(words, "open")
	}
	for _, s := range r.Spans {
		if s.Status != 0 {
			words = append(words, fmt.Sprintf("status %d", s.Status))
			break
		}
	}
	if r.Note != "" {
		words = append(words, r.Note)
	}
	return strings.Join(words, ", ")
}

// String is the mark for a list of marks.
func (m *Mark) String() string {
	if m.Text == "" {
		return m.Name
	}
	return m.Name + ": " + m.Text
}
