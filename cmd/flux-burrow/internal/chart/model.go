// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"encoding/json"
	"fmt"
	"strings"

	"flux-burrow/hooks"
)

// Kind is what a row is about.
type Kind int

// The kinds of rows.
const (
	Window Kind = iota
	Burrow
	DWS
	Other
	Tasks
)

// Span is a time in a row, in seconds since 1970.
type Span struct {
	From, To float64
	// Open: it has not ended; To is then the end of the chart.
	Open bool
	// Status is that of the event which ended a hold.
	Status int
}

// Row is a line of the chart. Group is prolog, epilog or another word for rows
// that belong together.
type Row struct {
	Group, Name string
	Kind        Kind
	Spans       []Span
	Note        string
}

// Mark is an event that has no length.
type Mark struct {
	At   float64
	Name string
	Text string
	// Bad: an exception.
	Bad bool
}

// Chart is a job's life from the allocation of its resources to its end.
type Chart struct {
	// Job is the id as it is to be shown.
	Job        string
	Begin, End float64
	Rows       []Row
	Marks      []Mark
	// Rabbit: the job has file systems of its own.
	Rabbit bool
	// Over: the job has ended.
	Over bool
	// Bad is how many lines were no events.
	Bad int

	submit float64
}

// Names of dws, which make a job a rabbit job here.
const (
	dwsPrefix   = "dws-"
	dwsEpilog   = "dws-epilog"
	environment = "dws_environment"
)

// lastTime is in the year 5138. A time after it is none.
const lastTime = 1e11

// Read makes the chart of an eventlog. now is where what has not ended is
// drawn to; 0 for the last event.
func Read(job, eventlog string, now float64) (*Chart, error) {
	entries, bad := hooks.ParseEventlog(eventlog)
	if len(entries) == 0 {
		return nil, fmt.Errorf("there are no events in it")
	}
	b := builder{c: Chart{Job: job, Bad: bad}, rows: map[[2]string]int{}}
	for _, e := range entries {
		if e.Timestamp < 0 || e.Timestamp > lastTime {
			b.c.Bad++
			continue
		}
		b.add(e)
	}
	b.finish(min(now, lastTime))
	return &b.c, nil
}

// builder goes through the events once.
type builder struct {
	c Chart
	// rows are the holds' by group and description.
	rows map[[2]string]int
	// tasks are what ran; the other times are 0 for what has not happened.
	tasks            []Span
	alloc, env       float64
	started, ended   bool
	end, last, first float64
	given            bool
	// unmounted is when dws-epilog ended.
	unmounted float64
}

type context struct {
	Description string `json:"description"`
	Status      int    `json:"status"`
	Type        string `json:"type"`
	Severity    int    `json:"severity"`
	Note        string `json:"note"`
	Final       bool   `json:"final"`
}

func (b *builder) add(e hooks.Entry) {
	var c context
	// A context of another form has none of these.
	_ = json.Unmarshal(e.Context, &c)
	at := e.Timestamp
	b.last = max(b.last, at)
	switch e.Name {
	case "submit":
		b.c.submit = at
	case "alloc":
		b.seen(at)
		b.alloc = at
	case "prolog-start", "epilog-start":
		b.seen(at)
		b.hold(strings.TrimSuffix(e.Name, "-start"), c.Description, at)
	case "prolog-finish", "epilog-finish":
		b.free(strings.TrimSuffix(e.Name, "-finish"), c, at)
	case environment:
		b.c.Rabbit = true
		if b.env == 0 {
			b.env = at
		}
		b.mark(Mark{At: at, Name: e.Name})
	case "start":
		b.seen(at)
		b.started = true
		b.tasks = append(b.tasks, Span{From: at, To: at, Open: true})
	case "finish":
		b.endTasks(at)
	case "release":
		// The tasks of a job that got an exception before all had started.
		if c.Final && b.started {
			b.endTasks(at)
		}
	case "exception":
		text := fmt.Sprintf("%s, severity %d", c.Type, c.Severity)
		if c.Note != "" {
			text += ": " + c.Note
		}
		b.mark(Mark{At: at, Name: e.Name, Text: printable(text), Bad: true})
		if c.Severity == 0 && !b.started {
			b.over(at)
		}
	case "clean":
		b.c.Over = true
	}
}

// seen moves the begin of the chart.
func (b *builder) seen(at float64) {
	if b.first == 0 || at < b.first {
		b.first = at
	}
}

func (b *builder) mark(m Mark) { b.c.Marks = append(b.c.Marks, m) }

func (b *builder) over(at float64) {
	if !b.ended {
		b.ended, b.end = true, at
	}
}

func (b *builder) endTasks(at float64) {
	for i := range b.tasks {
		if b.tasks[i].Open {
			b.tasks[i].Open = false
			b.tasks[i].To = max(at, b.tasks[i].From)
		}
	}
	b.over(at)
}

func (b *builder) hold(group, name string, at float64) {
	if strings.HasPrefix(name, dwsPrefix) {
		b.c.Rabbit = true
	}
	key := [2]string{group, name}
	i, ok := b.rows[key]
	if !ok {
		i = len(b.c.Rows)
		b.rows[key] = i
		b.c.Rows = append(b.c.Rows, Row{Group: group, Name: printable(name), Kind: kind(name)})
	}
	r := &b.c.Rows[i]
	r.Spans = append(r.Spans, Span{From: at, To: at, Open: true})
}

// free ends the oldest open hold of that name. One that ends without a start
// is noted as a mark: it ended another's.
func (b *builder) free(group string, c context, at float64) {
	if i, ok := b.rows[[2]string{group, c.Description}]; ok {
		r := &b.c.Rows[i]
		for j := range r.Spans {
			if s := &r.Spans[j]; s.Open {
				s.Open, s.To, s.Status = false, max(at, s.From), c.Status
				if r.Name == dwsEpilog && group == "epilog" {
					b.unmounted = at
					b.given = b.given || c.Status != 0
				}
				return
			}
		}
	}
	b.mark(Mark{At: at, Name: group + "-finish", Text: printable(c.Description) + " without a start", Bad: true})
}

func kind(name string) Kind {
	switch {
	case strings.HasPrefix(name, "burrow-"):
		return Burrow
	case strings.HasPrefix(name, dwsPrefix):
		return DWS
	}
	return Other
}

// finish puts the rows in order and ends what is open at the chart's end.
func (b *builder) finish(now float64) {
	c := &b.c
	c.Begin, c.End = b.first, b.last
	if !c.Over && now > c.End {
		c.End = now
	}
	if c.Begin == 0 {
		c.Rows = nil
		c.Begin = c.End
		return
	}
	rows := b.windows()
	for _, group := range []string{"prolog", "tasks", "epilog"} {
		for _, r := range c.Rows {
			if r.Group == group {
				rows = append(rows, r)
			}
		}
		if group == "tasks" && len(b.tasks) > 0 {
			rows = append(rows, Row{Group: group, Kind: Tasks, Spans: b.tasks})
		}
	}
	c.Rows = rows
	for i := range c.Rows {
		for j := range c.Rows[i].Spans {
			if s := &c.Rows[i].Spans[j]; s.Open {
				s.To = max(c.End, s.From)
			}
		}
	}
}

// windows are the phases that burrow has a job go through.
func (b *builder) windows() []Row {
	if b.alloc == 0 {
		// The beginning is not known.
		return nil
	}
	window := func(name string, from, to float64) Row {
		s := Span{From: from, To: max(to, from), Open: to == 0}
		return Row{Group: "window", Name: name, Kind: Window, Spans: []Span{s}}
	}
	if !b.c.Rabbit {
		return []Row{window("run", b.alloc, b.end)}
	}
	mounted := b.env
	if mounted == 0 {
		mounted = b.end
	}
	rows := []Row{window("mount", b.alloc, mounted)}
	if b.env != 0 && (!b.ended || b.end > b.env) {
		rows = append(rows, window("run", b.env, b.end))
	}
	if b.ended {
		r := window("unmount", b.end, b.unmounted)
		if b.c.Over && b.unmounted == 0 {
			return rows
		}
		if b.given {
			r.Note = "given up"
		}
		rows = append(rows, r)
	}
	return rows
}

// printable keeps control characters off terminals.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
