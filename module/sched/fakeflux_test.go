// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"sort"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// fakeFlux is a job manager, a resource module and a job-list around a
// fakeHost, as far as a scheduler sees of them. It keeps for itself who holds
// what, and fails the test when something is given out twice.
type fakeFlux struct {
	*fakeHost
	inventory string // R of the instance
	up        *idset.Set
	jobs      map[jobid.ID]*fakeJob
	nextID    jobid.ID
	engine    *Engine
	config    Config
	online    bool
	hooks     bool
	jobList   bool
	epoch     int // of the engine: what an old one says does not count
	acquire   func(string, error)
	tolerate  bool // of R that overlap from the start
	getattrs  int  // requests for a job's R
	notes     map[jobid.ID]string
}

type fakeJob struct {
	id       jobid.ID
	spec     string
	priority int
	pending  bool // an alloc request is open
	running  bool // has resources
	ended    bool
	denied   string
	r        *rv1reader.R // what it holds
	text     string       // R as the job manager has it
	freed    *idset.Set
}

// testConfig is the default with all that is logged.
func testConfig() Config {
	c := DefaultConfig()
	c.LogLevel = Debug
	return c
}

func newFakeFlux(t testing.TB, inventory string) *fakeFlux {
	f := &fakeFlux{
		fakeHost: newFakeHost(t), inventory: inventory, jobs: map[jobid.ID]*fakeJob{},
		nextID: 1000, config: testConfig(), jobList: true, notes: map[jobid.ID]string{},
	}
	r, err := rv1reader.Read([]byte(inventory))
	if err != nil {
		t.Fatalf("inventory: %s", err)
	}
	f.up = r.Ranks.Clone()
	f.services["resource.acquire"] = func(_ string, reply func(string, error)) {
		f.acquire = reply
		reply(fmt.Sprintf(`{"resources":%s,"up":"%s"}`, f.inventory, text(f.up)), nil)
	}
	f.services["job-manager.sched-hello"] = f.onHello
	f.services["job-manager.sched-ready"] = f.onReady
	f.services["job-list.list-id"] = f.onListID
	f.services["job-manager.resource-status"] = f.onResourceStatus
	f.services["job-manager.getattr"] = f.onGetattr
	return f
}

func text(s *idset.Set) string {
	b, _ := s.AppendText(nil)
	return string(b)
}

func (f *fakeFlux) ids() []jobid.ID {
	ids := make([]jobid.ID, 0, len(f.jobs))
	for id := range f.jobs {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

func (f *fakeFlux) onHello(_ string, reply func(string, error)) {
	for _, id := range f.ids() {
		j := f.jobs[id]
		if !j.running {
			continue
		}
		free := ""
		if !j.freed.Empty() {
			free = fmt.Sprintf(`,"free":"%s"`, text(j.freed))
		}
		reply(fmt.Sprintf(`{"id":%d,"priority":%d,"userid":0,"t_submit":1.5%s}`, id, j.priority, free), nil)
	}
	reply("", syscall.ENODATA)
}

func (f *fakeFlux) onReady(_ string, reply func(string, error)) {
	f.online = true
	reply(`{"count":0}`, nil)
	for _, id := range f.ids() {
		f.sendAlloc(f.jobs[id])
	}
}

func (f *fakeFlux) onRunningR(payload string, reply func(string, error)) {
	b := []byte(`{"R":{`)
	gjson.Get(payload, "ids").ForEach(func(_, v gjson.Result) bool {
		if j := f.jobs[jobid.ID(v.Uint())]; j != nil && j.running && j.text != "" {
			b = fmt.Appendf(b, `"%d":%s,`, j.id, j.text)
		}
		return true
	})
	reply(strings.TrimSuffix(string(b), ",")+`}}`, nil)
}

func (f *fakeFlux) onListID(payload string, reply func(string, error)) {
	j := f.jobs[jobid.ID(gjson.Get(payload, "id").Uint())]
	if !f.jobList || j == nil || j.r == nil {
		reply("", syscall.ENOENT)
		return
	}
	reply(fmt.Sprintf(`{"job":{"id":%d,"ranks":"%s"}}`, j.id, text(j.r.Ranks)), nil)
}

// onGetattr gives R out of the job manager's memory (getattr.c).
func (f *fakeFlux) onGetattr(payload string, reply func(string, error)) {
	f.getattrs++
	j := f.jobs[jobid.ID(gjson.Get(payload, "id").Uint())]
	if j == nil || j.text == "" {
		reply("", syscall.ENOENT)
		return
	}
	reply(`{"R":`+j.text+`}`, nil)
}

func (f *fakeFlux) onResourceStatus(_ string, reply func(string, error)) {
	sum := &rv1reader.ResourceSet{}
	for _, id := range f.ids() {
		if j := f.jobs[id]; j.running && j.r != nil {
			r, _ := rv1reader.Read([]byte(j.text))
			sum = sum.Union(r.Set.RemoveRanks(j.freed))
		}
	}
	r := rv1reader.R{Set: sum, Ranks: sum.Ranks()}
	reply(`{"allocated":`+string(r.Encode())+`}`, nil)
}

// load starts a new engine.
func (f *fakeFlux) load() *Engine {
	f.epoch++
	if f.hooks {
		f.services["job-manager.burrow.running-R"] = f.onRunningR
	} else {
		delete(f.services, "job-manager.burrow.running-R")
	}
	f.engine = New(f, f.config)
	f.engine.Start()
	return f.engine
}

// unload ends the engine, in good order or as a crash does: what is on its way
// to it is lost.
func (f *fakeFlux) unload() {
	f.engine.Stop()
	f.online = false
	for _, line := range []string{"to-sched", "from-job-manager", "from-resource", "from-job-list", "to-resource", "timer"} {
		f.drop(line)
	}
	f.timers = nil
	for _, j := range f.jobs {
		j.pending = false
	}
	f.acquire = nil
}

func (f *fakeFlux) drop(line string) {
	delete(f.lines, line)
	kept := f.names[:0]
	for _, n := range f.names {
		if n != line {
			kept = append(kept, n)
		}
	}
	f.names = kept
}

// toSched sends a request to the scheduler, behind what was sent before.
func (f *fakeFlux) toSched(topic, payload string, reply func(string, error)) {
	e := f.engine
	f.post("from-job-manager", func() { send(e, topic, payload, reply) })
}

func (f *fakeFlux) submit(spec string) *fakeJob {
	f.nextID++
	j := &fakeJob{id: f.nextID, spec: spec, priority: 16, freed: &idset.Set{}}
	f.jobs[j.id] = j
	f.sendAlloc(j)
	return j
}

func (f *fakeFlux) sendAlloc(j *fakeJob) {
	if !f.online || j.pending || j.running || j.ended {
		return
	}
	j.pending = true
	epoch := f.epoch
	f.toSched("sched.alloc", fmt.Sprintf(`{"id":%d,"priority":%d,"userid":0,"t_submit":1.5,"jobspec":%s}`, j.id, j.priority, j.spec),
		func(p string, err error) {
			f.post("to-job-manager", func() { f.onAllocResponse(epoch, p, err) })
		})
}

func (f *fakeFlux) onAllocResponse(epoch int, payload string, err error) {
	if err != nil {
		f.t.Fatalf("sched.alloc got an error response: %s", err)
	}
	v := gjson.Parse(payload)
	j := f.jobs[jobid.ID(v.Get("id").Uint())]
	if j == nil {
		f.t.Fatalf("response for an unknown job: %s", payload)
	}
	if epoch != f.epoch { // of an engine that is gone; the broker delivers it all the same
		return
	}
	switch v.Get("type").Int() {
	case allocSuccess:
		f.onSuccess(j, v)
	case allocAnnotate:
		f.notes[j.id] = v.Get("annotations.sched").Raw
	case allocDeny:
		j.pending, j.ended, j.denied = false, true, v.Get("note").Str
	case allocCancel:
		j.pending = false
		f.sendAlloc(j)
	}
}

func (f *fakeFlux) onSuccess(j *fakeJob, v gjson.Result) {
	raw := v.Get("R").Raw
	if f.kvs[j.id.Key("R")] != raw {
		f.t.Fatalf("%s: R is not in the KVS at the time of the response", j.id)
	}
	r, err := rv1reader.Read([]byte(raw))
	if err != nil {
		f.t.Fatalf("%s: R %s: %s", j.id, raw, err)
	}
	if !j.pending {
		f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"R":%s,"final":true}`, j.id, raw), nil)
		return
	}
	for _, o := range f.jobs {
		if o.running && o.r != nil && !f.tolerate && o.r.Set.RemoveRanks(o.freed).Overlaps(r.Set) {
			f.t.Fatalf("%s has %s, of which %s has %s", j.id, r.Short(), o.id, o.r.Short())
		}
	}
	j.pending, j.running, j.r, j.text = false, true, r, raw
	f.notes[j.id] = v.Get("annotations.sched").Raw
}

// end ends a job: it waits no more, or all it has is freed.
func (f *fakeFlux) end(j *fakeJob) {
	switch {
	case j.pending:
		f.toSched("sched.cancel", fmt.Sprintf(`{"id":%d}`, j.id), nil)
		j.pending = false
	case j.running:
		j.running = false
		if f.online {
			r := j.text
			if !gjson.Valid(r) { // the job manager sends JSON, whatever is in the KVS
				r = "null"
			}
			f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"R":%s,"final":true}`, j.id, r), nil)
		}
	}
	j.ended = true
}

// endRanks frees part of a job, as housekeeping does.
func (f *fakeFlux) endRanks(j *fakeJob, ranks *idset.Set) {
	part := j.r.Set.SelectRanks(ranks)
	r := rv1reader.R{Set: part, Ranks: part.Ranks()}
	j.freed.AddSet(ranks)
	if f.online {
		f.toSched("sched.free", fmt.Sprintf(`{"id":%d,"R":%s}`, j.id, r.Encode()), nil)
	}
}

func (f *fakeFlux) extend(j *fakeJob, at float64) {
	raw, err := rv1reader.SetExpiration([]byte(j.text), at)
	if err != nil {
		f.t.Fatal(err)
	}
	j.text = string(raw)
	f.kvs[j.id.Key("eventlog")] += fmt.Sprintf(`{"timestamp":1,"name":"resource-update","context":{"expiration":%.0f}}`+"\n", at)
	if f.online {
		f.toSched("sched.expiration", fmt.Sprintf(`{"id":%d,"expiration":%.0f}`, j.id, at), nil)
	}
}

func (f *fakeFlux) change(payload string) {
	if f.acquire != nil {
		f.acquire(payload, nil)
	}
}

func (f *fakeFlux) verify() {
	f.t.Helper()
	if err := f.engine.pool.Verify(); err != nil {
		f.t.Fatal(err)
	}
}

// held gives what the engine thinks each job holds.
func (f *fakeFlux) held() map[jobid.ID]string {
	m := map[jobid.ID]string{}
	for _, a := range f.engine.pool.Allocs() {
		m[a.ID] = f.engine.pool.R(a, 0).Short()
	}
	return m
}

// inventoryOf makes an R of n nodes.
func inventoryOf(n, cores, gpus int, props string) string {
	children := fmt.Sprintf(`"core":"0-%d"`, cores-1)
	if cores == 1 {
		children = `"core":"0"`
	}
	if gpus == 1 {
		children += `,"gpu":"0"`
	} else if gpus > 1 {
		children += fmt.Sprintf(`,"gpu":"0-%d"`, gpus-1)
	}
	ranks := fmt.Sprintf("0-%d", n-1)
	hosts := fmt.Sprintf("n[0-%d]", n-1)
	if n == 1 {
		ranks, hosts = "0", "n0"
	}
	if props != "" {
		props = `,"properties":` + props
	}
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[{"rank":"%s","children":{%s}}],"starttime":0,"expiration":0,"nodelist":["%s"]%s}}`, ranks, children, hosts, props)
}

// nodesSpec asks for whole nodes, slotsSpec for slots of cores and gpus.
func nodesSpec(n int, duration float64, system string) string {
	return spec(fmt.Sprintf(`{"type":"node","count":%d,"exclusive":true,"with":[{"type":"slot","count":1,"label":"t","with":[{"type":"core","count":1}]}]}`, n), duration, system)
}

func slotsSpec(n, cores, gpus int, duration float64, system string) string {
	with := fmt.Sprintf(`{"type":"core","count":%d}`, cores)
	if gpus > 0 {
		with += fmt.Sprintf(`,{"type":"gpu","count":%d}`, gpus)
	}
	return spec(fmt.Sprintf(`{"type":"slot","count":%d,"label":"t","with":[%s]}`, n, with), duration, system)
}

func spec(resources string, duration float64, system string) string {
	if system != "" {
		system = "," + system
	}
	return fmt.Sprintf(`{"resources":[%s],"tasks":[],"attributes":{"system":{"duration":%g%s}},"version":1}`, resources, duration, system)
}
