// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// TextOptions say what the output can show.
type TextOptions struct {
	Width int
	ASCII bool
	Color bool
}

const (
	maxName  = 26
	minWidth = 20 // of the bars
	tickRoom = 11
)

// look is how a kind of row is drawn: with a character, and a colour (SGR).
type look struct {
	char, ascii rune
	color       string
}

var looks = [...]look{
	Window: {'█', '#', "\x1b[34m"},
	Burrow: {'▓', '=', "\x1b[36m"},
	DWS:    {'▒', '-', "\x1b[35m"},
	Other:  {'░', '.', ""},
	Tasks:  {'█', '#', "\x1b[32m"},
}

const (
	resetColor = "\x1b[0m"
	badColor   = "\x1b[31m"
)

// pen draws one chart.
type pen struct {
	b     strings.Builder
	o     TextOptions
	c     *Chart
	s     scale
	group int // width of its column
	name  int
	width int
	tail  int
}

// Text writes the chart for a terminal.
func (c *Chart) Text(w io.Writer, o TextOptions) error {
	p := pen{c: c, o: o}
	p.b.WriteString(c.Summary() + "\n")
	if len(c.Rows) > 0 {
		p.layout()
		p.axis()
		for i := range c.Rows {
			p.row(i)
		}
		p.marks()
	}
	p.notes()
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *pen) layout() {
	p.group = len("events")
	for i := range p.c.Rows {
		r := &p.c.Rows[i]
		p.group = max(p.group, utf8.RuneCountInString(r.Group))
		p.name = max(p.name, utf8.RuneCountInString(clip(r.Name)))
		p.tail = max(p.tail, utf8.RuneCountInString(p.columns(r)))
	}
	p.width = max(p.o.Width-p.group-p.name-3-p.tail, minWidth)
	p.s = newScale(p.c, float64(p.width))
}

// columns are what is to the right of the bars: when, how long, and a note.
func (p *pen) columns(r *Row) string {
	s := fmt.Sprintf(" %8s %8s", "+"+duration(r.Spans[0].From-p.c.Begin), duration(r.length()))
	if note := r.note(); note != "" {
		s += " " + note
	}
	return s
}

func clip(name string) string {
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	return string([]rune(name)[:maxName-2]) + ".."
}

// label writes the two columns on the left.
func (p *pen) label(group, name string) {
	fmt.Fprintf(&p.b, "%-*s %-*s  ", p.group, group, p.name, name)
}

// axis writes the labels of the ticks, and below them the ruler.
func (p *pen) axis() {
	labels := []rune(strings.Repeat(" ", p.width))
	line, knot, gap := '─', '┬', '≈'
	if p.o.ASCII {
		line, knot, gap = '-', '+', '~'
	}
	ruler := []rune(strings.Repeat(string(line), p.width))
	if cut, ok := p.s.cut(); ok {
		lo, hi := p.cell(cut.x0), p.cell(cut.x1)
		for i := lo; i < hi; i++ {
			ruler[i] = gap
		}
		long := duration(cut.t1 - cut.t0)
		if len(long) <= hi-lo {
			copy(labels[(lo+hi-len(long))/2:], []rune(long))
		}
	}
	for _, t := range p.s.ticks(tickRoom) {
		x := p.cell(t.x)
		ruler[x] = knot
		if blank(labels, x, x+len(t.label)+1) {
			copy(labels[x:], []rune(t.label))
		}
	}
	p.label("", "")
	fmt.Fprintf(&p.b, "%s %8s %8s\n", string(labels), "at", "for")
	p.label("", "")
	p.b.WriteString(string(ruler) + "\n")
}

// blank tells whether a label fits from column lo to before hi. The last one
// needs no room behind it.
func blank(labels []rune, lo, hi int) bool {
	if hi-1 > len(labels) {
		return false
	}
	return strings.TrimLeft(string(labels[max(lo-1, 0):min(hi, len(labels))]), " ") == ""
}

// cell is the column of a place on the axis.
func (p *pen) cell(x float64) int {
	return max(0, min(int(x), p.width-1))
}

func (p *pen) row(i int) {
	r := &p.c.Rows[i]
	group := r.Group
	if i > 0 && p.c.Rows[i-1].Group == group {
		group = ""
	}
	p.label(group, clip(r.Name))
	l := looks[r.Kind]
	char, open := l.char, '▶'
	if p.o.ASCII {
		char, open = l.ascii, '>'
	}
	bar := []rune(strings.Repeat(" ", p.width))
	for _, s := range r.Spans {
		lo := p.cell(p.s.at(s.From))
		hi := max(p.cell(math.Ceil(p.s.at(s.To))-1), lo)
		for x := lo; x <= hi; x++ {
			bar[x] = char
		}
		if s.Open {
			bar[hi] = open
		}
	}
	p.paint(string(bar), l.color)
	p.b.WriteString(p.columns(r) + "\n")
}

func (p *pen) paint(s, color string) {
	if p.o.Color && color != "" {
		s = color + s + resetColor
	}
	p.b.WriteString(s)
}

// marks writes the row of events that have no length.
func (p *pen) marks() {
	if len(p.c.Marks) == 0 {
		return
	}
	good, bad := '▲', '✗'
	if p.o.ASCII {
		good, bad = '^', 'x'
	}
	bar := []rune(strings.Repeat(" ", p.width))
	for _, m := range p.c.Marks {
		char := good
		if m.Bad {
			char = bad
		}
		bar[p.cell(p.s.at(m.At))] = char
	}
	p.label("events", "")
	p.b.WriteString(strings.TrimRight(string(bar), " ") + "\n")
}

// notes writes what the marks are, and what is to be said of the chart.
func (p *pen) notes() {
	for _, m := range p.c.Marks {
		line := fmt.Sprintf("  %8s  %s", signed(m.At-p.c.Begin), m.String())
		if m.Bad {
			p.paint(line, badColor)
		} else {
			p.b.WriteString(line)
		}
		p.b.WriteString("\n")
	}
	if p.c.Bad > 0 {
		fmt.Fprintf(&p.b, "  %d lines of the eventlog are no events: left out\n", p.c.Bad)
	}
}
