// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"

	"flux-burrow/hooks/jobid"
)

// LogLine is a line of the instance's log.
type LogLine struct {
	Time  float64
	Rank  int
	From  string
	Level int // syslog(3)
	Text  string
}

func (l LogLine) String() string {
	return fmt.Sprintf("%.6f %s[%d]: %s", l.Time, l.From, l.Rank, l.Text)
}

const logKeep = 20000

func (in *Instance) log(rank int, from string, level int, text string) {
	l := LogLine{Time: in.Now(), Rank: rank, From: from, Level: level, Text: text}
	if in.opts.OnLog != nil {
		in.opts.OnLog(l)
	}
	if len(in.logs) == logKeep {
		in.logs = append(in.logs[:0], in.logs[logKeep/2:]...)
	}
	in.logs = append(in.logs, l)
}

// idString writes an id as Flux logs it, in F58.
func idString(id JobID) string { return jobid.ID(id).String() }

func (in *Instance) logf(rank int, from string, level int, format string, args ...any) {
	in.log(rank, from, level, fmt.Sprintf(format, args...))
}

// Log gives the log, of which the oldest lines are dropped in the long run.
func (in *Instance) Log() []LogLine { return in.logs }
