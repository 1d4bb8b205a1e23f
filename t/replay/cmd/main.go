// SPDX-License-Identifier: LGPL-3.0-or-later

// Command cmd replays a workload through the scheduler's engine, and in a real
// Flux. See t/bench/replay.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"flux-burrow/module/sched"
	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
	"flux-burrow/t/replay/lublin"
	"flux-burrow/t/replay/measure"
	"flux-burrow/t/replay/sim"
	"flux-burrow/t/replay/swf"
)

// flags are what is asked for.
type flags struct {
	swf, write         string
	nodes, cores, jobs int
	load, factor, tau  float64
	seed               uint64
	policy, match      string
	speed              float64
	json               bool
	flux               bool
	scale              float64
	schedulers, object string
}

func main() {
	var f flags
	flag.StringVar(&f.swf, "swf", "", "a workload in this `FILE`, .gz too; else one is made")
	flag.StringVar(&f.write, "write", "", "write the workload to this `FILE`")
	flag.IntVar(&f.nodes, "nodes", 0, "the machine's nodes; default: as the file says, or 64")
	flag.IntVar(&f.cores, "cores", 0, "processors of a node; default: as the file says, or 1")
	flag.IntVar(&f.jobs, "jobs", 0, "how many jobs, from the first; default: 1000, or all of the file")
	flag.Float64Var(&f.load, "load", 0.9, "of a made workload: what arrives by what the machine can do")
	flag.Uint64Var(&f.seed, "seed", 1, "of a made workload")
	flag.Float64Var(&f.factor, "factor", 2, "time limit of a job without, in run times")
	flag.StringVar(&f.policy, "policy", "fifo,easy,conservative", "which policies")
	flag.StringVar(&f.match, "match", "first", "first, last, best or worst")
	flag.Float64Var(&f.speed, "speed", 0, "how many times faster than the wall clock; 0: as fast as it can")
	flag.Float64Var(&f.tau, "tau", 0, "least run time in a slowdown, in seconds; default: 10, with -flux one second of the wall clock")
	flag.BoolVar(&f.json, "json", false, "print JSON")
	flag.BoolVar(&f.flux, "flux", false, "in a real Flux too, beside other schedulers")
	flag.Float64Var(&f.scale, "scale", 0, "with -flux: times are divided by this; default: jobs arrive over 100 s")
	flag.StringVar(&f.schedulers, "schedulers", "simple,backfill,fluxion-easy,fluxion-conservative,burrow", "with -flux: which; burrow has each policy")
	flag.StringVar(&f.object, "object", "module/burrow.so", "with -flux: burrow.so")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "replay: what is %q?\n", flag.Args())
		os.Exit(2)
	}
	if err := f.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// row is one schedule. Its times are those of the workload: where they were
// scaled down for a real Flux they are scaled up again.
type row struct {
	Name    string  `json:"name"`
	CPU     float64 `json:"cpu_seconds"`      // of passes; in a real Flux, of the scheduler
	Longest float64 `json:"turn_seconds_max"` // of the reactor; 0 for others
	measure.Report
}

func (f *flags) run(out io.Writer) error {
	kinds, err := f.kinds()
	if err != nil {
		return err
	}
	w, err := f.workload()
	if err != nil {
		return err
	}
	jobs, left := sim.Jobs(w, f.nodes, f.cores, f.factor)
	if f.swf != "" && f.jobs > 0 && f.jobs < len(jobs) {
		jobs = jobs[:f.jobs]
	}
	if len(jobs) == 0 {
		return fmt.Errorf("no job of this workload can run on %d nodes", f.nodes)
	}
	scale := 1.0
	if f.flux {
		scale = f.shrink(jobs)
	}
	if f.tau == 0 {
		f.tau = 10
		if f.flux {
			f.tau = scale
		}
	}
	var rows []row
	if f.flux {
		if rows, err = f.inFlux(jobs, kinds, scale); err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		r, err := f.onClock(jobs, kind, scale)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		rows = append(rows, r)
	}
	if f.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	fmt.Fprintln(out, f.title(w, jobs, left, scale))
	return table(out, rows)
}

func (f *flags) kinds() (kinds []policy.Kind, err error) {
	for _, name := range strings.Split(f.policy, ",") {
		kind, err := policy.Parse(name)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// workload reads or makes it, and settles the size of the machine.
func (f *flags) workload() (w *swf.Workload, err error) {
	if f.swf == "" {
		f.nodes = first(f.nodes, 64)
		f.cores = 1
		w, err = lublin.Generate(lublin.Options{Nodes: f.nodes, Jobs: first(f.jobs, 1000), Load: f.load, Seed: f.seed})
	} else {
		w, err = read(f.swf)
	}
	if err != nil {
		return nil, err
	}
	nodes, procs := int(w.MaxNodes()), int(w.MaxProcs())
	if f.cores == 0 {
		f.cores = 1
		if nodes > 0 && procs > nodes {
			f.cores = procs / nodes
		}
	}
	if f.nodes == 0 {
		f.nodes = max(nodes, (procs+f.cores-1)/f.cores)
	}
	if f.nodes < 1 {
		return nil, fmt.Errorf("%s does not say how many nodes there are: use -nodes", f.swf)
	}
	if f.write != "" {
		return w, write(w, f.write)
	}
	return w, nil
}

func first(values ...int) int {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

func read(name string) (*swf.Workload, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	w, err := swf.Parse(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

func write(w *swf.Workload, name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := w.Write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// onClock puts jobs through the engine on the virtual clock.
func (f *flags) onClock(jobs []sim.Job, kind policy.Kind, scale float64) (row, error) {
	order, err := resource.ParseOrder(f.match)
	if err != nil {
		return row{}, err
	}
	c := sched.DefaultConfig()
	c.Policy, c.Match = kind, order
	res, err := sim.Run(jobs, sim.Options{Nodes: f.nodes, CoresPerNode: f.cores, Config: c, Speed: f.speed})
	if err != nil {
		return row{}, err
	}
	for _, line := range res.Log {
		fmt.Fprintf(os.Stderr, "replay: %s: %s\n", kind, line)
	}
	name := kind.String()
	if f.flux {
		name = "virtual clock, " + name
	}
	return f.row(name, kind, res.Records, scale, res.Engine.Pass.Sum, res.Engine.Pass.Max), nil
}

// row measures a schedule, with its times scaled up.
func (f *flags) row(name string, kind policy.Kind, records []measure.Record, scale, cpu, longest float64) row {
	for i := range records {
		r := &records[i]
		r.Submit, r.Limit = r.Submit*scale, r.Limit*scale
		if r.Start >= 0 {
			r.Start, r.End = r.Start*scale, r.End*scale
		}
	}
	o := measure.Options{Nodes: f.nodes, Policy: kind, Tau: f.tau}
	return row{Name: name, CPU: cpu, Longest: longest, Report: measure.Measure(records, o)}
}
