// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// JobID is a job's id.
type JobID = uint64

// State of a job (RFC 21).
type State int

// The states of RFC 21, with the numbers that plugins see.
const (
	StateNew      State = 1
	StateDepend   State = 2
	StatePriority State = 4
	StateSched    State = 8
	StateRun      State = 16
	StateCleanup  State = 32
	StateInactive State = 64
)

var stateNames = map[State]string{StateNew: "NEW", StateDepend: "DEPEND", StatePriority: "PRIORITY",
	StateSched: "SCHED", StateRun: "RUN", StateCleanup: "CLEANUP", StateInactive: "INACTIVE"}

func (s State) String() string { return stateNames[s] }

var stateTopics = map[State]string{StateNew: "job.state.new", StateDepend: "job.state.depend",
	StatePriority: "job.state.priority", StateSched: "job.state.sched", StateRun: "job.state.run",
	StateCleanup: "job.state.cleanup", StateInactive: "job.state.inactive"}

// Event is an entry of a job's eventlog (RFC 18).
type Event struct {
	Time    float64
	Name    string
	Context string // JSON object, "" for none
	json    string
}

// JSON gives the entry as it is in the eventlog.
func (e *Event) JSON() string {
	if e.json == "" {
		b := append([]byte(`{"timestamp":`), ftoa(e.Time)...)
		b = append(b, `,"name":`...)
		b = append(b, quote(e.Name)...)
		if e.Context != "" {
			b = append(b, `,"context":`...)
			b = append(b, e.Context...)
		}
		e.json = string(append(b, '}'))
	}
	return e.json
}

func parseEvents(log string) ([]*Event, error) {
	var events []*Event
	for _, line := range strings.Split(log, "\n") {
		if line == "" {
			continue
		}
		o := jsonParse(line)
		e := &Event{Time: o.Get("timestamp").Float(), Name: o.Get("name").Str, Context: o.Get("context").Raw, json: line}
		if !o.IsObject() || e.Name == "" {
			return nil, fmt.Errorf("eventlog parse error: %q", line)
		}
		events = append(events, e)
	}
	return events, nil
}

// job is the job manager's view of a job (job.h).
type job struct {
	id       JobID
	userid   uint32
	urgency  int
	priority int64
	state    State
	flags    int
	tSubmit  float64
	jobspec  string // without environment
	r        string // without scheduling key, "" before alloc
	endEvent *Event

	queue       []queued
	hold        bool // until the commit of its submit event
	readonly    bool // the eventlog is closed
	eventlog    []*Event
	posted      map[string]bool
	annotations string
	deps        []string
	subscribers []*Plugin

	perilog                                int
	startPending, started                  bool
	hasResources, freePosted, dependPosted bool
	allocQueued, allocPending, allocBypass bool
	debug                                  bool
}

type queued struct {
	e        *Event
	noCommit bool
}

func newJob(id JobID) *job {
	return &job{id: id, urgency: 16, priority: -1, state: StateNew, posted: map[string]bool{}}
}

func (j *job) queuedEvent(name string) bool {
	for _, q := range j.queue {
		if q.e.Name == name {
			return true
		}
	}
	return false
}

// args builds what plugins get of a job, in the order of keys that was seen
// (recorded/jobtap-*.jsonl). extra follows: `"entry":...,"prev_state":8`.
func (j *job) args(extra string) string {
	b := make([]byte, 0, len(j.jobspec)+len(j.r)+len(extra)+256)
	b = append(b, `{"jobspec":`...)
	b = append(b, j.jobspec...)
	b = append(b, `,"id":`...)
	b = strconv.AppendUint(b, j.id, 10)
	b = append(b, `,"userid":`...)
	b = strconv.AppendUint(b, uint64(j.userid), 10)
	b = append(b, `,"urgency":`...)
	b = strconv.AppendInt(b, int64(j.urgency), 10)
	b = append(b, `,"state":`...)
	b = strconv.AppendInt(b, int64(j.state), 10)
	b = append(b, `,"priority":`...)
	b = strconv.AppendInt(b, j.priority, 10)
	b = append(b, `,"t_submit":`...)
	b = append(b, ftoa(j.tSubmit)...)
	if j.r != "" {
		b = append(b, `,"R":`...)
		b = append(b, j.r...)
	}
	if j.endEvent != nil {
		b = append(b, `,"end_event":`...)
		b = append(b, j.endEvent.JSON()...)
	}
	if extra != "" {
		b = append(b, ',')
		b = append(b, extra...)
	}
	return string(append(b, '}'))
}

// update applies an event to the job: the state machine of RFC 21 (event.c,
// event_job_update).
func (j *job) update(e *Event) error {
	ctx := jsonParse(e.Context)
	switch name := e.Name; {
	case name == "submit":
		j.tSubmit = e.Time
		j.urgency = int(ctx.Get("urgency").Int())
		j.userid = uint32(ctx.Get("userid").Uint())
		j.flags = int(ctx.Get("flags").Int())
	case name == "invalidate":
		j.readonly = true
	case name == "validate":
		j.state = StateDepend
	case name == "jobspec-update":
		ctx.ForEach(func(key, val gjson.Result) bool {
			j.jobspec, _ = sjson.SetRaw(j.jobspec, key.Str, val.Raw)
			return true
		})
		if j.state == StateSched {
			j.state = StatePriority
		}
	case name == "resource-update":
		if j.r == "" {
			return fmt.Errorf("resource-update before alloc")
		}
		j.r, _ = sjson.SetRaw(j.r, "execution.expiration", ctx.Get("expiration").Raw)
	case name == "dependency-add":
		if j.state == StateDepend || j.state == StateNew {
			j.depend(ctx.Get("description").Str)
		}
	case name == "dependency-remove":
		if j.state == StateDepend || j.state == StateNew {
			j.undepend(ctx.Get("description").Str)
		}
	case name == "set-flags":
		for _, f := range ctx.Get("flags").Array() {
			j.allocBypass = j.allocBypass || f.Str == "alloc-bypass"
			j.debug = j.debug || f.Str == "debug"
		}
	case name == "depend":
		if j.state == StateDepend {
			j.state = StatePriority
		}
	case name == "priority":
		if j.state == StatePriority || j.state == StateSched {
			j.priority = ctx.Get("priority").Int()
			j.state = StateSched
		}
	case name == "urgency":
		j.urgency = int(ctx.Get("urgency").Int())
		if j.state == StateSched {
			j.state = StatePriority
		}
	case name == "exception":
		if j.state != StateInactive && j.state != StateNew && ctx.Get("severity").Int() == 0 {
			if ctx.Get("type").Str == "scheduler-restart" {
				j.hasResources = false // FACTS 34
			}
			if j.endEvent == nil {
				j.endEvent = e
			}
			j.state = StateCleanup
		}
	case name == "alloc":
		j.hasResources = true
		if j.state == StateSched {
			j.state = StateRun
		}
	case name == "start":
		j.started = true
	case name == "free":
		j.hasResources = false
	case name == "finish":
		if j.state == StateRun {
			if j.endEvent == nil {
				j.endEvent = e
			}
			j.state = StateCleanup
		}
	case name == "clean":
		if j.state == StateCleanup {
			j.state = StateInactive
		}
	case name == "prolog-start" || name == "prolog-finish":
		if !j.startPending {
			j.perilogCount(name[len("prolog-"):])
		}
	case name == "epilog-start" || name == "epilog-finish":
		if j.state == StateCleanup {
			j.perilogCount(name[len("epilog-"):])
		}
	case name == "flux-restart":
		if j.state == StateSched {
			j.state = StatePriority
		}
	}
	return nil
}

// perilogCount: one count for all holds, whoever took them (FACTS 10).
func (j *job) perilogCount(what string) {
	if what == "start" {
		j.perilog++
	} else if j.perilog > 0 {
		j.perilog--
	}
}

func (j *job) depend(d string) {
	for _, o := range j.deps {
		if o == d {
			return
		}
	}
	j.deps = append(j.deps, d)
}

func (j *job) undepend(d string) {
	for i, o := range j.deps {
		if o == d {
			j.deps = append(j.deps[:i:i], j.deps[i+1:]...)
			return
		}
	}
}

// key is the KVS key of a datum of the job (flux_job_kvs_key(3)).
func (j *job) key(name string) string { return jobKey(j.id, name) }

func jobKey(id JobID, name string) string {
	return fmt.Sprintf("job.%04x.%04x.%04x.%04x.%s",
		id>>48&0xffff, id>>32&0xffff, id>>16&0xffff, id&0xffff, name)
}

func jobOfKey(key string) (JobID, string, bool) {
	var a, b, c, d uint64
	var name string
	if n, _ := fmt.Sscanf(key, "job.%04x.%04x.%04x.%04x.%s", &a, &b, &c, &d, &name); n != 5 {
		return 0, "", false
	}
	return a<<48 | b<<32 | c<<16 | d, name, true
}
