// SPDX-License-Identifier: LGPL-3.0-or-later

// Package sim puts a workload through the scheduler's engine on a virtual
// clock. Around the engine are a job manager, a resource module and a KVS, as
// far as it sees of them, on a machine of equal nodes that are always up. They
// take no time: a transaction is made, and the nodes of a job that ends are
// freed, in the instant.
package sim

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched"
	"flux-burrow/rv1reader/idset"
	"flux-burrow/t/replay/measure"
)

// epoch is when a workload begins, in microseconds since 1970.
const epoch = 1_000_000_000 * 1_000_000

// maxQuiet is how often the engine may act by itself while jobs wait and
// nothing else is to come, before it counts as stuck.
const maxQuiet = 1000

// Options say how a workload is run.
type Options struct {
	Nodes        int
	CoresPerNode int
	Config       sched.Config
	// Speed is how many times faster than the wall clock it goes; 0: as fast as
	// it can.
	Speed float64
	// Foretell is the time between two rounds of annotations; 0 for an hour.
	Foretell time.Duration
}

// Result is what came of it.
type Result struct {
	Records []measure.Record // in the order of the jobs
	Engine  sched.Report
	Wall    time.Duration
	Log     []string // warnings and errors of the engine
}

// run is a workload under way.
type run struct {
	*host
	o      Options
	engine *sched.Engine
	jobs   []Job
	out    []measure.Record
	sent   int
	live   int       // jobs that run
	gone   int       // jobs that ended or were denied
	held   idset.Set // nodes that jobs have
	fault  error
	begin  time.Time
}

// Run puts jobs through an engine. They are in the order of their submission.
func Run(jobs []Job, o Options) (*Result, error) {
	if o.Nodes < 1 || o.CoresPerNode < 1 {
		return nil, fmt.Errorf("%d nodes of %d cores", o.Nodes, o.CoresPerNode)
	}
	r := &run{host: newHost(), o: o, jobs: jobs, out: make([]measure.Record, len(jobs)), begin: time.Now()}
	r.foretell = o.Foretell
	if r.foretell == 0 {
		r.foretell = time.Hour
	}
	r.services["resource.acquire"] = func(_ string, reply func(string, error)) {
		reply(fmt.Sprintf(`{"resources":%s,"up":"0-%d"}`, inventory(o.Nodes, o.CoresPerNode), o.Nodes-1), nil)
	}
	r.services["job-manager.sched-hello"] = func(_ string, reply func(string, error)) { reply("", syscall.ENODATA) }
	r.services["job-manager.sched-ready"] = func(_ string, reply func(string, error)) { reply(`{"count":0}`, nil) }
	r.services["resource.status"] = func(_ string, reply func(string, error)) { reply(`{"drain":{}}`, nil) }
	r.engine = sched.New(r, o.Config)
	r.engine.Start()
	r.settle()
	if r.engine.Phase() != sched.Ready {
		return nil, fmt.Errorf("the engine is not ready but %s: %v", r.engine.Phase(), r.stopErr)
	}
	if err := r.play(); err != nil {
		return nil, err
	}
	res := &Result{Records: r.out, Engine: r.engine.Report(), Wall: time.Since(r.begin), Log: r.log}
	r.engine.Stop()
	return res, nil
}

// play moves the clock from one thing that happens to the next.
func (r *run) play() error {
	quiet := 0
	for r.gone < len(r.jobs) {
		at, is := r.next()
		quiet++
		if r.live > 0 || r.sent < len(r.jobs) {
			quiet = 0
		}
		if r.sent < len(r.jobs) {
			// The engine must be older than the first job.
			submit := epoch + 1_000_000 + micro(r.jobs[r.sent].Submit)
			if !is || submit <= at {
				at, is = submit, true
			}
		}
		if !is || quiet > maxQuiet {
			return fmt.Errorf("%d jobs wait, nothing runs, and the engine does nothing", len(r.jobs)-r.gone)
		}
		if r.o.Speed > 0 {
			time.Sleep(time.Until(r.begin.Add(time.Duration(float64(at-epoch) * 1e3 / r.o.Speed))))
		}
		r.now = max(r.now, at)
		for r.sent < len(r.jobs) && epoch+1_000_000+micro(r.jobs[r.sent].Submit) <= r.now {
			r.submit(r.sent)
			r.sent++
		}
		r.settle()
		if r.stopped {
			return fmt.Errorf("the engine has stopped: %v", r.stopErr)
		}
		if r.fault != nil {
			return r.fault
		}
	}
	return nil
}

func micro(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

// since is a time of the workload.
func (r *run) since() float64 { return float64(r.now-epoch-1_000_000) / 1e6 }

// send gives the engine a request.
func (r *run) send(topic, payload string, reply func(string, error)) {
	for i := range sched.Handlers {
		if sched.Handlers[i].Topic == topic {
			r.engine.Handle(&sched.Handlers[i], payload, request{reply})
		}
	}
}

// id is the engine's number of a job: they are in order, as real ones are.
func id(k int) jobid.ID { return jobid.ID(k + 1) }

func (r *run) submit(k int) {
	j := r.jobs[k]
	r.out[k] = measure.Record{ID: j.ID, Nodes: j.Nodes, Submit: r.since(), Start: -1, End: -1, Limit: j.Limit}
	r.post(func() {
		r.send("sched.alloc", fmt.Sprintf(`{"id":%d,"priority":16,"userid":0,"t_submit":%f,"jobspec":%s}`, id(k), r.Now(), spec(j)),
			func(p string, err error) { r.post(func() { r.answer(k, p, err) }) })
	})
}

// answer takes a response to an alloc request (RFC 27).
func (r *run) answer(k int, payload string, err error) {
	if err != nil {
		r.fail("job %d: sched.alloc: %w", r.jobs[k].ID, err)
		return
	}
	v := gjson.Parse(payload)
	switch v.Get("type").Int() {
	case 0:
		r.start(k, v.Get("R"))
	case 2:
		r.gone++
	}
}

func (r *run) fail(format string, args ...any) {
	if r.fault == nil {
		r.fault = fmt.Errorf(format, args...)
	}
}

// start runs a job, once its nodes are known to be nobody's.
func (r *run) start(k int, text gjson.Result) {
	j := r.jobs[k]
	ranks, err := ranksOf(text)
	if err == nil && ranks.Count() != j.Nodes {
		err = fmt.Errorf("it has %d nodes and asked for %d", ranks.Count(), j.Nodes)
	}
	if err == nil && ranks.Overlaps(&r.held) {
		err = fmt.Errorf("node %s is held by another job", ranks.Intersect(&r.held))
	}
	if err != nil {
		r.fail("job %d: %w: %s", j.ID, err, text.Raw)
		return
	}
	r.held.AddSet(ranks)
	r.live++
	r.out[k].Start = r.since()
	r.at(r.now+micro(math.Min(j.Run, j.Limit)), func() {
		r.held.RemoveSet(ranks)
		r.live--
		r.gone++
		r.out[k].End = r.since()
		r.post(func() { r.send("sched.free", fmt.Sprintf(`{"id":%d,"R":%s,"final":true}`, id(k), text.Raw), nil) })
	})
}

// ranksOf reads the nodes of an R.
func ranksOf(text gjson.Result) (*idset.Set, error) {
	all := &idset.Set{}
	for _, rank := range text.Get("execution.R_lite.#.rank").Array() {
		s, err := idset.Parse(rank.Str)
		if err != nil {
			return nil, err
		}
		all.AddSet(s)
	}
	if all.Empty() {
		return nil, errors.New("its R has no nodes")
	}
	return all, nil
}

// inventory is the R of the machine.
func inventory(nodes, cores int) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":[{"rank":"%s","children":{"core":"%s"}}],"starttime":0,"expiration":0,"nodelist":["%s"]}}`,
		upto(nodes), upto(cores), hosts(nodes))
}

func upto(n int) string {
	if n == 1 {
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}

func hosts(n int) string {
	if n == 1 {
		return "n0"
	}
	return fmt.Sprintf("n[0-%d]", n-1)
}

// spec asks for whole nodes.
func spec(j Job) string {
	return fmt.Sprintf(`{"resources":[{"type":"node","count":%d,"exclusive":true,"with":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":1}]}]}],`+
		`"tasks":[],"attributes":{"system":{"duration":%g}},"version":1}`, j.Nodes, j.Limit)
}
