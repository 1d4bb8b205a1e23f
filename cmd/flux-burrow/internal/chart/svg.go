// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// Sizes of the SVG, in its units (pixels at 100 %).
const (
	svgMargin = 20
	svgTop    = 78  // the axis is there
	svgRow    = 24  // from row to row
	svgBar    = 14  // height of a bar
	svgBars   = 640 // width of the bars
	svgTail   = 190 // width of the texts to their right
	svgLetter = 7   // about the width of one
	svgTick   = 80
)

var fills = [...]string{
	Window: "#3b6ea8",
	Burrow: "#2a9d8f",
	DWS:    "#9b5fb8",
	Other:  "#9aa3ad",
	Tasks:  "#4f9d4a",
}

// kinds are what the legend says.
var kinds = [...]string{
	Window: "window of the services",
	Burrow: "hold of burrow",
	DWS:    "hold of dws",
	Other:  "other hold",
	Tasks:  "tasks",
}

const svgStyle = `text{font:12px system-ui,"DejaVu Sans",Helvetica,Arial,sans-serif;fill:#24292f}` +
	`.h{font-size:15px;font-weight:600}.g{font-weight:600}.m{fill:#57606a}.b{fill:#b42318}` +
	`.t{stroke:#d8dee4;stroke-width:1}.x{stroke:#57606a;stroke-width:1}`

// drawing writes one SVG.
type drawing struct {
	b    strings.Builder
	c    *Chart
	s    scale
	left float64 // of the bars
}

// SVG writes the chart as a document of its own.
func (c *Chart) SVG(w io.Writer) error {
	d := drawing{c: c, s: newScale(c, svgBars)}
	longest := 0
	for _, r := range c.Rows {
		longest = max(longest, len([]rune(clip(r.Name))))
	}
	d.left = svgMargin + 64 + float64(longest*svgLetter) + 10
	rows := len(c.Rows)
	if len(c.Marks) > 0 {
		rows++
	}
	width := d.left + svgBars + svgTail + svgMargin
	bottom := float64(svgTop + 8 + rows*svgRow)
	height := bottom + float64(30+18*len(c.Marks)+svgMargin)
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n",
		num(width), num(height))
	fmt.Fprintf(&d.b, "<title>%s</title>\n<style>%s</style>\n", escape("Timeline of job "+c.Job), svgStyle)
	fmt.Fprintf(&d.b, `<rect width="%s" height="%s" fill="#fff"/>`+"\n", num(width), num(height))
	d.text(svgMargin, 32, "h", escape(firstUpper(c.Summary())))
	if rows > 0 {
		d.axis(bottom)
		for i := range c.Rows {
			d.row(i, float64(svgTop+8+i*svgRow))
		}
		d.marks(float64(svgTop+8+len(c.Rows)*svgRow), bottom+8)
		d.legend(height - svgMargin)
	}
	d.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, d.b.String())
	return err
}

func (d *drawing) text(x, y float64, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&d.b, `<text x="%s" y="%s"%s>%s</text>`+"\n", num(x), num(y), class, text)
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n",
		num(x1), num(y1), num(x2), num(y2), class)
}

// axis draws the ticks, and the place where the axis is cut.
func (d *drawing) axis(bottom float64) {
	free := math.Inf(-1)
	for _, t := range d.s.ticks(svgTick) {
		x := d.left + t.x
		d.line(x, svgTop, x, bottom, "t")
		if x >= free {
			d.text(x, svgTop-8, "m", t.label)
			free = x + float64((len(t.label)+2)*svgLetter)
		}
	}
	cut, ok := d.s.cut()
	if !ok {
		d.line(d.left, svgTop, d.left+svgBars, svgTop, "x")
		return
	}
	a, b := d.left+cut.x0, d.left+cut.x1
	d.line(d.left, svgTop, a, svgTop, "x")
	d.line(b, svgTop, d.left+svgBars, svgTop, "x")
	fmt.Fprintf(&d.b, `<line x1="%s" y1="%d" x2="%s" y2="%d" class="x" stroke-dasharray="2 4"/>`+"\n",
		num(a), svgTop, num(b), svgTop)
	fmt.Fprintf(&d.b, `<text x="%s" y="%d" class="m" text-anchor="middle">%s, cut</text>`+"\n",
		num((a+b)/2), svgTop+14, duration(cut.t1-cut.t0))
}

func (d *drawing) row(i int, top float64) {
	r := &d.c.Rows[i]
	base := top + 16
	if i == 0 || d.c.Rows[i-1].Group != r.Group {
		d.text(svgMargin, base, "g", escape(r.Group))
	}
	d.text(svgMargin+64, base, "", escape(clip(r.Name)))
	for _, s := range r.Spans {
		x := d.s.at(s.From)
		w := max(d.s.at(s.To)-x, 2)
		tip := fmt.Sprintf("%s %s: from +%s, for %s", r.Group, r.Name, duration(s.From-d.c.Begin), duration(s.To-s.From))
		if s.Open {
			tip += ", open"
		}
		if s.Status != 0 {
			tip += fmt.Sprintf(", status %d", s.Status)
		}
		fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%d" rx="2" fill="%s"><title>%s</title></rect>`+"\n",
			num(d.left+x), num(top+4), num(w), svgBar, fills[r.Kind], escape(tip))
		if s.Open {
			fmt.Fprintf(&d.b, `<path d="M%s %sl7 7l-7 7z" fill="%s"/>`+"\n", num(d.left+x+w), num(top+4), fills[r.Kind])
		}
	}
	tail := duration(r.length())
	if note := r.note(); note != "" {
		tail += ", " + note
	}
	d.text(d.left+svgBars+14, base, "m", escape(tail))
}

// marks draws the events in a row, and lists them below the chart.
func (d *drawing) marks(top, list float64) {
	if len(d.c.Marks) == 0 {
		return
	}
	d.text(svgMargin, top+16, "g", "events")
	for i, m := range d.c.Marks {
		x := d.left + d.s.at(m.At)
		shape, class, fill := "l5 9h-10z", "m", "#57606a"
		if m.Bad {
			shape, class, fill = "l5 5l-5 5l-5-5z", "b", "#b42318"
		}
		fmt.Fprintf(&d.b, `<path d="M%s %s%s" fill="%s"><title>%s</title></path>`+"\n",
			num(x), num(top+6), shape, fill, escape(m.String()))
		d.text(svgMargin, list+float64(14+18*i), class,
			escape(fmt.Sprintf("%s  %s", signed(m.At-d.c.Begin), m.String())))
	}
}

func signed(t float64) string {
	if t < 0 {
		return "-" + duration(-t)
	}
	return "+" + duration(t)
}

// legend names the colours that are used.
func (d *drawing) legend(y float64) {
	used := map[Kind]bool{}
	for _, r := range d.c.Rows {
		used[r.Kind] = true
	}
	x := float64(svgMargin)
	for k := range kinds {
		if used[Kind(k)] {
			fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="12" height="12" rx="2" fill="%s"/>`+"\n", num(x), num(y-10), fills[k])
			d.text(x+18, y, "m", kinds[k])
			x += float64(18 + len(kinds[k])*svgLetter + 14)
		}
	}
}

// num writes a coordinate: two decimals are plenty.
func num(f float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

func escape(s string) string {
	var b strings.Builder
	// A strings.Builder does not fail.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

func firstUpper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
