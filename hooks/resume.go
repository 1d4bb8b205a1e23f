// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Entry is an event of a job's eventlog (RFC 18).
type Entry struct {
	Timestamp float64         `json:"timestamp"`
	Name      string          `json:"name"`
	Context   json.RawMessage `json:"context"`
}

// ParseEventlog reads an eventlog, one entry a line. A line that is no entry
// is skipped and counted.
func ParseEventlog(text string) (entries []Entry, bad int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var e Entry
		if json.Unmarshal([]byte(line), &e) != nil || e.Name == "" {
			bad++
			continue
		}
		entries = append(entries, e)
	}
	return entries, bad
}

// facts are what a window needs of a job's eventlog.
type facts struct {
	// holds are the open ones by their description. The job manager only
	// counts them all.
	holds map[string]int
	// stolen: a hold was finished that was not open, so that another's is.
	stolen      bool
	dwsSeen     bool
	dwsStatus   int
	environment bool
	started     bool
	cleanup     bool
	ended       bool // no task runs any more
}

// stamp is what an entry is known by.
func (e Entry) stamp() stamp {
	return stamp{e.Timestamp, e.Name, gjson.GetBytes(e.Context, "description").Str}
}

// add takes one entry into account.
func (f *facts) add(e Entry) {
	var c struct {
		Description string `json:"description"`
		Status      int    `json:"status"`
		Severity    *int   `json:"severity"`
		Final       bool   `json:"final"`
	}
	// A context of another form has none of these.
	_ = json.Unmarshal(e.Context, &c)
	switch e.Name {
	case "prolog-start":
		f.count(c.Description, 1, 0)
	case "prolog-finish", "epilog-finish":
		f.count(c.Description, -1, c.Status)
	case "epilog-start":
		f.count(c.Description, 1, 0)
	case environmentEvent:
		f.environment = true
	case "start":
		f.started = true
	case "finish":
		f.cleanup, f.ended = true, true
	case "release":
		f.ended = f.ended || c.Final
	case "exception":
		f.cleanup = f.cleanup || c.Severity != nil && *c.Severity == 0
	}
}

func (f *facts) count(description string, by, status int) {
	if f.holds == nil {
		f.holds = map[string]int{}
	}
	f.holds[description] += by
	// Each of ours is held once: more is one that was taken anew after another
	// plugin had ended it.
	if (description == prologName || description == epilogName) && f.holds[description] > 1 {
		f.holds[description] = 1
	}
	if f.holds[description] < 0 {
		f.holds[description] = 0
		f.stolen = true
	}
	if description == dwsEpilog {
		f.dwsSeen = true
		if by < 0 && status != 0 {
			f.dwsStatus = status
		}
	}
}

// held tells whether a hold is open.
func (f *facts) held(description string) bool { return f.holds[description] > 0 }

// open is the number of holds that should be open.
func (f *facts) open() int {
	n := 0
	for _, k := range f.holds {
		n += k
	}
	return n
}

// running tells whether tasks may run.
func (f *facts) running() bool { return f.started && !f.ended }

// resume says where a window stands by its job's eventlog, and what is to be
// done to go on from there. The effects that take a hold are done without a
// current job.
func resume(f facts, rabbit bool, idleIsRun bool) (State, []Effect) {
	switch {
	case !rabbit && f.cleanup && f.running() && !idleIsRun:
		return OtherRunning, []Effect{WishRun}
	case !rabbit && f.cleanup:
		if f.holds[prologName] > 0 || !idleIsRun {
			return OtherIdling, []Effect{FailProlog, WishIdle}
		}
		return Over, nil
	case !rabbit && f.holds[prologName] > 0:
		return OtherStopping, []Effect{WishRun}
	case !rabbit && !idleIsRun:
		return OtherRunning, []Effect{WishRun}
	case !rabbit:
		return Over, nil
	}
	if !f.cleanup {
		switch {
		case f.started:
			return Running, []Effect{WishRun}
		case f.holds[prologName] > 0 && f.environment:
			return Stopping, []Effect{WishRun}
		case f.holds[prologName] > 0:
			return Mounting, []Effect{StartTimer, WishMount}
		case f.holds[dwsSetup] > 0 && !f.environment:
			// The plugin was not there, or was removed, and dws still holds
			// the prolog: there is time for a hold of our own.
			return Mounting, []Effect{HoldProlog, StartTimer, WishMount}
		}
		return Running, []Effect{WishRun}
	}
	var do []Effect
	if f.holds[epilogName] == 0 && f.holds[dwsEpilog] > 0 {
		do = append(do, HoldEpilog)
	}
	if f.holds[prologName] > 0 {
		do = append(do, FailProlog)
	}
	switch {
	case f.running():
		if f.holds[epilogName] == 0 {
			do = append(do, HoldEpilog)
		}
		return Ending, append(do, WishRun)
	case f.holds[dwsEpilog] > 0:
		return Unmounting, append(do, WishUnmount)
	case f.dwsSeen && f.dwsStatus != 0:
		// The wish makes the need known anew: agents drop what an earlier load
		// asked for.
		return Over, append(do, WishUnmount, Keep, FreeEpilog)
	case f.dwsSeen:
		return Idling, append(do, WishIdle)
	}
	return Unmounting, append(do, WishUnmount, Settle)
}
