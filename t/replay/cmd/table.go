// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"flux-burrow/t/replay/sim"
	"flux-burrow/t/replay/swf"
)

// title says what was run.
func (f *flags) title(w *swf.Workload, jobs []sim.Job, left int, scale float64) string {
	var b strings.Builder
	what := f.swf
	if what == "" {
		what = fmt.Sprintf("made, load %g, seed %d", f.load, f.seed)
	} else if name := w.Field("Computer"); name != "" {
		what += ", " + name
	}
	fmt.Fprintf(&b, "%d nodes, %d jobs (%s)", f.nodes, len(jobs), what)
	if left > 0 {
		fmt.Fprintf(&b, ", %d left out", left)
	}
	if f.flux {
		fmt.Fprintf(&b, ", times divided by %.0f", scale)
	}
	fmt.Fprintf(&b, "\nused: per cent of node time, in all and until the last submission; waits in hours;\n"+
		"slowdown: mean, bounded by %.0f s; longest wait by nodes; idle while a waiting job asked for no more: node-hours, see measure/idle.go", f.tau)
	return b.String()
}

func table(out io.Writer, rows []row) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	top, head := "\tused\t\twait\t\t\tslow-\tlongest wait", "\tall\tarriving\tmean\tmedian\tmax\tdown"
	low := 1
	for i, c := range rows[0].Worst {
		if i > 0 {
			top += "\t"
		}
		if c.Upto == low {
			head += fmt.Sprintf("\t%d", low)
		} else {
			head += fmt.Sprintf("\t%d-%d", low, c.Upto)
		}
		low = c.Upto + 1
	}
	fmt.Fprintln(t, top+"\tidle\t\t\tCPU\tturn\t")
	fmt.Fprintln(t, head+"\topen\tchoice\theld\tms/job\tmax ms\t")
	for _, r := range rows {
		cells := []string{
			r.Name, fixed(100*r.Utilisation, 1), fixed(100*r.Busy, 1),
			hours(r.Mean, 2), hours(r.Median, 2), hours(r.Max, 2), fixed(r.Slowdown, 1),
		}
		for _, c := range r.Worst {
			cells = append(cells, hours(c.Wait, 1))
		}
		cells = append(cells, hours(r.Idle.Open, 1), hours(r.Idle.Choice, 1), hours(r.Idle.Held, 1),
			fixed(1e3*r.CPU/float64(max(1, r.Jobs)), 2), "-")
		if r.Longest > 0 {
			cells[len(cells)-1] = fixed(1e3*r.Longest, 1)
		}
		if r.NotStarted > 0 {
			cells[0] += fmt.Sprintf(" (%d not started)", r.NotStarted)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t")+"\t")
	}
	return t.Flush()
}

func fixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// hours shows a true 0 as such.
func hours(seconds float64, digits int) string {
	if seconds == 0 {
		return "0"
	}
	return fixed(seconds/3600, digits)
}
