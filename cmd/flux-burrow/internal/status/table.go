// SPDX-License-Identifier: LGPL-3.0-or-later

package status

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"flux-burrow/hooks/wire"
)

// Options say what the output can show.
type Options struct {
	ASCII bool
	Color bool
}

// SGR sequences (ECMA-48).
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

var header = [...]string{"", "RANKS", "SERVICE", "STATE", "WANTED", "JOBS"}

// Write writes the table. The first column has a * where a service is not as
// it is wanted and a ! where a node did not answer; why is on the next line.
func Write(w io.Writer, st *wire.StatusResponse, o Options) error {
	list := rows(st, o.ASCII)
	var width [len(header)]int
	lines := [][len(header)]string{header}
	for _, r := range list {
		lines = append(lines, r.cells())
	}
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	// The column of marks is there when there is one to see.
	first := 0
	if width[0] == 0 {
		first = 1
	}
	var b strings.Builder
	for i, line := range lines {
		text := ""
		for c := first; c < len(line); c++ {
			text += line[c] + strings.Repeat(" ", width[c]-utf8.RuneCountInString(line[c])+2)
		}
		color := bold
		if i > 0 {
			color = list[i-1].color()
		}
		paint(&b, strings.TrimRight(text, " "), color, o.Color)
		if i > 0 && list[i-1].note != "" {
			paint(&b, strings.Repeat(" ", 4)+list[i-1].note, color, o.Color)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func paint(b *strings.Builder, text, color string, on bool) {
	if on && color != "" {
		text = color + text + reset
	}
	b.WriteString(text + "\n")
}

func (r *row) cells() [len(header)]string {
	c := [len(header)]string{r.mark(), r.ranks.String(), r.Unit, r.State, r.Wanted, r.jobs}
	for i := 2; i < len(c); i++ {
		if c[i] == "" {
			c[i] = "-"
		}
	}
	return c
}

func (r *row) color() string {
	switch r.mark() {
	case "!":
		return red
	case "*":
		return yellow
	}
	return ""
}

// Unanswered says how many ranks did not answer; "" if all did.
func Unanswered(st *wire.StatusResponse) string {
	failed, all := 0, 0
	for _, f := range st.Failed {
		failed += f.Ranks.Count()
	}
	for _, n := range st.Nodes {
		all += n.Ranks.Count()
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("no answer from %d of %d ranks", failed, all+failed)
}
