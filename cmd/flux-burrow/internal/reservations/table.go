// SPDX-License-Identifier: LGPL-3.0-or-later

// Package reservations shows advance reservations to people.
package reservations

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/reserve"
)

// Options say what the output can show, and how.
type Options struct {
	ASCII bool
	Color bool
	Zone  *time.Location
	User  func(id int64) string
}

// SGR sequences (ECMA-48).
const (
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// maxJobs is how many jobs are named in a row.
const maxJobs = 4

var header = [...]string{"NAME", "STATE", "START", "END", "RANKS", "HOSTS", "USERS", "JOBS", "REASON"}

// Write writes the table. What there is to say besides is on a line below.
func Write(w io.Writer, list []reserve.Listed, o Options) error {
	lines := [][len(header)]string{header}
	for i := range list {
		lines = append(lines, o.cells(&list[i]))
	}
	var width [len(header)]int
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for i, line := range lines {
		text := ""
		for c, cell := range line {
			text += cell + strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell)+2)
		}
		text = strings.TrimRight(text, " ")
		if o.Color && i == 0 {
			text = bold + text + reset
		}
		b.WriteString(text + "\n")
		if i > 0 {
			for _, note := range notes(&list[i-1]) {
				b.WriteString("    " + note + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o Options) cells(r *reserve.Listed) [len(header)]string {
	users := make([]string, len(r.Users))
	for i, id := range r.Users {
		users[i] = o.User(id)
	}
	c := [len(header)]string{
		r.Name, r.State, o.clock(r.Start), o.clock(r.End), r.Ranks.String(), r.Hosts,
		strings.Join(users, ","), o.jobs(r.Jobs), r.Reason,
	}
	for i := range c {
		if c[i] == "" {
			c[i] = "-"
		}
	}
	return c
}

func notes(r *reserve.Listed) (list []string) {
	if r.Missing != "" {
		list = append(list, "not in the instance: "+r.Missing)
	}
	if len(r.Rabbits) > 0 {
		list = append(list, "rabbits: "+strings.Join(r.Rabbits, ","))
	}
	return list
}

func (o Options) jobs(ids []uint64) string {
	var words []string
	for i, id := range ids {
		if i == maxJobs {
			words = append(words, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		words = append(words, jobid.ID(id).Text(o.ASCII))
	}
	return strings.Join(words, ", ")
}

func (o Options) clock(at float64) string {
	return time.Unix(int64(math.Floor(at)), 0).In(o.Zone).Format(time.DateTime)
}

// WriteAdded tells what was reserved, and which jobs already run past its
// beginning.
func WriteAdded(w io.Writer, r *reserve.AddResponse, o Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "reserved ranks %s (%s) from %s to %s\n", r.Ranks, r.Hosts, o.clock(r.Start), o.clock(r.End))
	for _, job := range r.Running {
		until := "has no time limit"
		if job.Expiration != 0 {
			until = "may run until " + o.clock(job.Expiration)
		}
		fmt.Fprintf(&b, "job %s on ranks %s %s\n", jobid.ID(job.ID).Text(o.ASCII), job.Ranks, until)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
