// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Jobspec is what tests say of a job; the rest of a jobspec (RFC 25) is made
// up as flux-submit(1) would.
type Jobspec struct {
	Nodes     int      // nodes; 0: Slots anywhere
	Slots     int      // in all where Nodes is 0, else per node; 0: 1
	Cores     int      // per slot; 0: 1
	GPUs      int      // per slot; the instance's own allocator gives none
	Exclusive bool     // whole nodes
	DW        []string // #DW directives: a rabbit job
	// Run is how long its tasks run (mock execution); Forever: until they are
	// killed. Status is how they end, as of wait(2).
	Run       time.Duration
	Status    int
	TimeLimit time.Duration // 0: none
	Urgency   int           // 0: 16; -1: held
	Queue     string
	Ranks     string // a constraint, as an idset
	// System is merged into attributes.system: JSON members, without braces.
	System string
}

// Forever as Jobspec.Run.
const Forever time.Duration = -1

// JSON writes the jobspec.
func (s Jobspec) JSON() string {
	cores, slots := max(s.Cores, 1), max(s.Slots, 1)
	gpus := ""
	if s.GPUs > 0 {
		gpus = fmt.Sprintf(`,{"type":"gpu","count":%d}`, s.GPUs)
	}
	slot := fmt.Sprintf(`{"type":"slot","count":%d,"with":[{"type":"core","count":%d}%s],"label":"task"}`, slots, cores, gpus)
	res := slot
	if s.Nodes > 0 {
		excl := ""
		if s.Exclusive {
			excl = `,"exclusive":true`
		}
		res = fmt.Sprintf(`{"type":"node","count":%d%s,"with":[%s]}`, s.Nodes, excl, slot)
	}
	var sys strings.Builder
	limit := "0"
	if s.TimeLimit > 0 {
		limit = ftoa(s.TimeLimit.Seconds())
	}
	fmt.Fprintf(&sys, `"duration":%s,"cwd":"/home/user"`, limit)
	if s.Queue != "" {
		fmt.Fprintf(&sys, `,"queue":%s`, quote(s.Queue))
	}
	if s.Ranks != "" {
		fmt.Fprintf(&sys, `,"constraints":{"ranks":[%s]}`, quote(s.Ranks))
	}
	run := "-1"
	if s.Run >= 0 {
		run = strconv.FormatFloat(s.Run.Seconds(), 'f', -1, 64) + "s"
	}
	fmt.Fprintf(&sys, `,"exec":{"test":{"run_duration":%s,"wait_status":%d}}`, quote(run), s.Status)
	if len(s.DW) > 0 {
		sys.WriteString(`,"dw":` + marshal(s.DW))
	}
	if s.System != "" {
		sys.WriteString("," + s.System)
	}
	return `{"resources":[` + res + `],"tasks":[{"command":["true"],"slot":"task","count":{"per_slot":1}}],` +
		`"attributes":{"system":{` + sys.String() + `}},"version":1}`
}

// runOf reads how long the tasks of a jobspec run, and their status. Where it
// does not say, they end at once.
func runOf(spec string) (time.Duration, int) {
	test := jsonGet(spec, "attributes.system.exec.test")
	run := test.Get("run_duration").Str
	if run == "-1" {
		return Forever, 0
	}
	d, err := parseFSD(run)
	if err != nil {
		d = 0
	}
	return d, int(test.Get("wait_status").Int())
}

// parseFSD reads a Flux standard duration (RFC 23).
func parseFSD(s string) (time.Duration, error) {
	unit := time.Second
	for suffix, u := range map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour} {
		if t := strings.TrimSuffix(s, suffix); t != s {
			if _, err := strconv.ParseFloat(t, 64); err == nil {
				s, unit = t, u
				break
			}
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return time.Duration(f * float64(unit)), err
}

// request is what the allocator understands of a jobspec.
type request struct {
	nodes, perNode, slots, cores int
	exclusive                    bool
	duration                     float64
	ranks                        []int
}

func parseRequest(spec string) request {
	req := request{perNode: 1, cores: 1}
	count := func(o gjson.Result) int {
		if n := o.Get("count"); n.IsObject() {
			return int(n.Get("min").Int())
		} else if n.Int() > 0 {
			return int(n.Int())
		}
		return 1
	}
	var walk func(o gjson.Result)
	walk = func(o gjson.Result) {
		switch o.Get("type").Str {
		case "node":
			req.nodes = count(o)
			req.exclusive = o.Get("exclusive").Bool()
		case "slot":
			req.perNode = count(o)
			req.exclusive = req.exclusive || o.Get("exclusive").Bool()
		case "core":
			req.cores = count(o)
		}
		for _, w := range o.Get("with").Array() {
			walk(w)
		}
	}
	p := jsonParse(spec)
	for _, o := range p.Get("resources").Array() {
		walk(o)
	}
	req.slots = req.perNode
	if req.nodes > 0 {
		req.slots = req.perNode * req.nodes
	}
	sys := p.Get("attributes.system")
	req.duration = sys.Get("duration").Float()
	if r := sys.Get("constraints.ranks.0"); r.Exists() {
		req.ranks, _ = decodeIDs(r.Str)
	}
	return req
}
