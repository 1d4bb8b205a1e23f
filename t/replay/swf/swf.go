// SPDX-License-Identifier: LGPL-3.0-or-later

// Package swf reads and writes workloads in the Standard Workload Format of
// the Parallel Workloads Archive, version 2: a line of 18 numbers for each job,
// comments behind ';', the first of them "; Key: value". -1 is what is not
// known. Times are seconds; fractions of them are read and written too, as
// times that are scaled down have them.
package swf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Unknown is a field that has no value.
const Unknown = -1

// Job is one line.
type Job struct {
	ID        int64
	Submit    float64 // since the beginning of the workload
	Wait      float64
	Run       float64
	Procs     int64   // that it had
	CPU       float64 // mean time on each
	Memory    float64 // mean, in kB, on each
	ReqProcs  int64
	ReqTime   float64 // limit of Run
	ReqMemory float64
	Status    int64 // 1 completed, 0 failed, 5 cancelled
	User      int64
	Group     int64
	App       int64
	Queue     int64
	Partition int64
	After     int64   // the job that it waited for before it was submitted
	Think     float64 // from the end of that one
}

// NewJob returns a job of which nothing is known.
func NewJob() Job {
	var j Job
	for _, f := range fields {
		f.set(&j, Unknown)
	}
	return j
}

// Size is the number of processors that it had, else those it asked for, else
// Unknown.
func (j *Job) Size() int64 {
	if j.Procs > 0 {
		return j.Procs
	}
	if j.ReqProcs > 0 {
		return j.ReqProcs
	}
	return Unknown
}

// Workload is a whole file.
type Workload struct {
	Header []string // comments from before the first job, without the ';'
	Jobs   []Job
}

// Field returns the value of "; Key: value" of the header; "" if there is none.
func (w *Workload) Field(key string) string {
	for _, line := range w.Header {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Number returns a number of the header, or Unknown. Some have words behind it.
func (w *Workload) Number(key string) int64 {
	words := strings.Fields(w.Field(key))
	if len(words) == 0 {
		return Unknown
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return Unknown
	}
	return n
}

// MaxNodes and MaxProcs are the size of the machine, or Unknown.
func (w *Workload) MaxNodes() int64 { return w.Number("MaxNodes") }

// MaxProcs is the number of processors in all.
func (w *Workload) MaxProcs() int64 { return w.Number("MaxProcs") }

// field is one of the 18, with its name in errors.
type field struct {
	name    string
	integer bool
	get     func(j *Job) float64
	set     func(j *Job, v float64)
}

func integer(name string, at func(j *Job) *int64) field {
	return field{name, true,
		func(j *Job) float64 { return float64(*at(j)) },
		func(j *Job, v float64) { *at(j) = int64(v) }}
}

func number(name string, at func(j *Job) *float64) field {
	return field{name, false,
		func(j *Job) float64 { return *at(j) },
		func(j *Job, v float64) { *at(j) = v }}
}

var fields = [...]field{
	integer("job number", func(j *Job) *int64 { return &j.ID }),
	number("submit time", func(j *Job) *float64 { return &j.Submit }),
	number("wait time", func(j *Job) *float64 { return &j.Wait }),
	number("run time", func(j *Job) *float64 { return &j.Run }),
	integer("processors", func(j *Job) *int64 { return &j.Procs }),
	number("CPU time", func(j *Job) *float64 { return &j.CPU }),
	number("memory", func(j *Job) *float64 { return &j.Memory }),
	integer("requested processors", func(j *Job) *int64 { return &j.ReqProcs }),
	number("requested time", func(j *Job) *float64 { return &j.ReqTime }),
	number("requested memory", func(j *Job) *float64 { return &j.ReqMemory }),
	integer("status", func(j *Job) *int64 { return &j.Status }),
	integer("user", func(j *Job) *int64 { return &j.User }),
	integer("group", func(j *Job) *int64 { return &j.Group }),
	integer("application", func(j *Job) *int64 { return &j.App }),
	integer("queue", func(j *Job) *int64 { return &j.Queue }),
	integer("partition", func(j *Job) *int64 { return &j.Partition }),
	integer("preceding job", func(j *Job) *int64 { return &j.After }),
	number("think time", func(j *Job) *float64 { return &j.Think }),
}

// Parse reads a workload. The error names the line and the field.
func Parse(r io.Reader) (*Workload, error) {
	w := &Workload{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		line, comment, commented := strings.Cut(lines.Text(), ";")
		if strings.TrimSpace(line) == "" {
			if commented && len(w.Jobs) == 0 {
				w.Header = append(w.Header, strings.TrimSpace(comment))
			}
			continue
		}
		job, err := parseJob(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		w.Jobs = append(w.Jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return w, nil
}

func parseJob(line string) (Job, error) {
	var job Job
	words := strings.Fields(line)
	if len(words) != len(fields) {
		return job, fmt.Errorf("%d fields, want %d", len(words), len(fields))
	}
	for i, f := range fields {
		v, err := strconv.ParseFloat(words[i], 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0) || f.integer && v != math.Trunc(v)) {
			err = errors.New("no")
		}
		if err != nil {
			return job, fmt.Errorf("field %d (%s): %q is not a number", i+1, f.name, words[i])
		}
		if v < 0 && v != Unknown {
			return job, fmt.Errorf("field %d (%s): %s is below 0", i+1, f.name, words[i])
		}
		f.set(&job, v)
	}
	return job, nil
}

// Write writes a workload.
func (w *Workload) Write(out io.Writer) error {
	b := bufio.NewWriter(out)
	for _, line := range w.Header {
		fmt.Fprintf(b, "; %s\n", line)
	}
	for i := range w.Jobs {
		for k, f := range fields {
			if k > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.FormatFloat(f.get(&w.Jobs[i]), 'f', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}
