// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// span is a time in which something was so, on a rank.
type span struct {
	rank       int
	begin, end float64
	label      string
}

type event struct {
	Timestamp float64 `json:"timestamp"`
	Name      string  `json:"name"`
	Context   struct {
		Description string `json:"description"`
		Type        string `json:"type"`
		Status      *int   `json:"status"`
	} `json:"context"`
}

// report prints each job's timeline and counts the times that a service was
// up while a task ran.
func report(w io.Writer, dir string) (bad int, err error) {
	up, err := spans(filepath.Join(dir, "changes"), "start", "stop")
	if err != nil {
		return 0, err
	}
	tasks, err := spans(filepath.Join(dir, "tasks"), "begin", "end")
	if err != nil {
		return 0, err
	}
	if dws, err := os.ReadFile(filepath.Join(dir, "dws")); err == nil {
		fmt.Fprintf(w, "The rabbit side: %s", dws)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "eventlog.*"))
	if err != nil || len(logs) == 0 {
		return 0, fmt.Errorf("no eventlogs in %s", dir)
	}
	slices.Sort(logs)
	titles := map[string]string{
		"1-rabbit":    "a rabbit job on 2 nodes",
		"2-other":     "another job on 2 nodes",
		"3-cancelled": "a rabbit job, cancelled in its prolog",
	}
	for _, name := range logs {
		events, err := readLog(name)
		if err != nil || len(events) == 0 {
			return 0, fmt.Errorf("%s: no events (%v)", name, err)
		}
		_, key, _ := strings.Cut(filepath.Base(name), ".")
		fmt.Fprintf(w, "\n%s\n", titles[key])
		timeline(w, events, up, tasks)
	}
	overlaps := 0
	for _, t := range tasks {
		for _, u := range up {
			if t.rank == u.rank && t.begin < u.end && u.begin < t.end {
				overlaps++
				fmt.Fprintf(w, "\nBAD: rank %d: the service was up while a task ran\n", t.rank)
			}
		}
	}
	fmt.Fprintf(w, "\n%d tasks ran, the service was up %d times, %d times while a task ran.\n",
		len(tasks), len(up), overlaps)
	if len(tasks) != 4 {
		fmt.Fprintf(w, "BAD: 4 tasks should have run, 2 of the rabbit job and 2 of the other\n")
		overlaps++
	}
	if len(up) < 6 {
		fmt.Fprintf(w, "BAD: the service should have been up twice on each node of the first job\n")
		overlaps++
	}
	return overlaps, nil
}

func readLog(name string) ([]event, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var events []event
	for d := json.NewDecoder(f); ; {
		var e event
		if err := d.Decode(&e); err == io.EOF {
			return events, nil
		} else if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
}

// spans reads lines of time, verb, rank and more, and pairs the verbs.
func spans(name, begin, end string) ([]span, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	open := map[int]span{}
	var list []span
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 3 {
			continue
		}
		t, err1 := strconv.ParseFloat(words[0], 64)
		rank, err2 := strconv.Atoi(words[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s: %q is no change", name, s.Text())
		}
		switch words[1] {
		case begin:
			label := ""
			if len(words) > 3 {
				label = words[3]
			}
			open[rank] = span{rank: rank, begin: t, label: label}
		case end:
			if sp, ok := open[rank]; ok {
				sp.end = t
				list = append(list, sp)
				delete(open, rank)
			}
		}
	}
	for _, sp := range open {
		return nil, fmt.Errorf("%s: rank %d has a %s without %s", name, sp.rank, begin, end)
	}
	return list, nil
}

// timeline prints what happened between a job's submission and its end, in
// seconds from its submission.
func timeline(w io.Writer, events []event, up, tasks []span) {
	t0, t1 := events[0].Timestamp, events[len(events)-1].Timestamp
	type line struct {
		at   float64
		text string
	}
	var lines []line
	for _, e := range events {
		text := e.Name
		switch {
		case e.Context.Description != "":
			text += " " + e.Context.Description
		case e.Name == "exception":
			text += " " + e.Context.Type
		case e.Name == "finish" && e.Context.Status != nil:
			text += fmt.Sprintf(" status %d", *e.Context.Status)
		}
		switch e.Name {
		case "validate", "depend", "priority", "dependency-add", "dependency-remove", "jobspec-update", "release", "free":
		default:
			lines = append(lines, line{e.Timestamp, text})
		}
	}
	note := func(list []span, begun, ended string) {
		for _, s := range list {
			for _, x := range []struct {
				at   float64
				text string
			}{{s.begin, begun}, {s.end, ended}} {
				if x.at >= t0 && x.at <= t1 {
					lines = append(lines, line{x.at, fmt.Sprintf("    rank %d: %s", s.rank, x.text)})
				}
			}
		}
	}
	note(up, "service up", "service down")
	note(tasks, "task runs", "task over")
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.at < b.at {
			return -1
		}
		if a.at > b.at {
			return 1
		}
		return 0
	})
	for _, l := range lines {
		fmt.Fprintf(w, "  %7.3f s  %s\n", l.at-t0, l.text)
	}
}
