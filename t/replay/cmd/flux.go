// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flux-burrow/module/sched/policy"
	"flux-burrow/t/replay/measure"
	"flux-burrow/t/replay/sim"
)

const (
	arriving = 100.0 // seconds over which jobs arrive in a real Flux, by default
	limit    = 400   // seconds for one instance
	// allowance is what a job may take for Flux itself before its limit, as
	// limits that are scaled down leave nothing for that.
	allowance = 0.5
)

// shrink scales the times of jobs down. A mock job has a millisecond at least.
func (f *flags) shrink(jobs []sim.Job) float64 {
	scale := f.scale
	if scale == 0 {
		scale = math.Max(1, jobs[len(jobs)-1].Submit/arriving)
	}
	for i := range jobs {
		j := &jobs[i]
		j.Run = math.Max(0.001, math.Min(j.Run, j.Limit)/scale)
		j.Submit /= scale
		j.Limit = j.Limit/scale + allowance
	}
	return scale
}

// peer is a scheduler: what "flux module load" takes, and the policy that its
// schedule is measured by.
type peer struct {
	name    string
	modules []string
	kind    policy.Kind
}

// peers are those of the list. All see the whole queue: what they look at by
// default is 8 jobs (flux-core's) or 32 (Fluxion).
func (f *flags) peers(kinds []policy.Kind) (list []peer, err error) {
	object, err := filepath.Abs(f.object)
	if err != nil {
		return nil, err
	}
	fluxion := func(name string, kind policy.Kind) peer {
		return peer{"Fluxion " + name, []string{"sched-fluxion-resource",
			"sched-fluxion-qmanager queue-policy=" + name + " queue-params=queue-depth=100000"}, kind}
	}
	for _, name := range strings.Split(f.schedulers, ",") {
		switch name {
		case "simple":
			list = append(list, peer{"sched-simple", []string{"sched-simple queue-depth=unlimited"}, policy.FIFO})
		case "backfill":
			list = append(list, peer{"sched-backfill", []string{"sched-backfill queue-depth=unlimited"}, policy.Easy})
		case "fluxion-fcfs":
			list = append(list, fluxion("fcfs", policy.FIFO))
		case "fluxion-easy":
			list = append(list, fluxion("easy", policy.Easy))
		case "fluxion-conservative":
			list = append(list, fluxion("conservative", policy.Conservative))
		case "burrow":
			for _, kind := range kinds {
				args := fmt.Sprintf("--name=sched-burrow %s policy=%s match=%s", object, kind, f.match)
				list = append(list, peer{"sched-burrow " + kind.String(), []string{args}, kind})
			}
		default:
			return nil, fmt.Errorf("scheduler %q is none of simple, backfill, fluxion-fcfs, fluxion-easy, fluxion-conservative, burrow", name)
		}
	}
	return list, nil
}

// inFlux runs scaled jobs in a real Flux, in an instance for each scheduler.
func (f *flags) inFlux(jobs []sim.Job, kinds []policy.Kind, scale float64) (rows []row, err error) {
	peers, err := f.peers(kinds)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text, err := json.Marshal(jobs)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs"), text, 0o644); err != nil {
		return nil, err
	}
	for _, p := range peers {
		fmt.Fprintf(os.Stderr, "replay: %s\n", p.name)
		records, cpu, err := f.instance(dir, p)
		if err != nil {
			// The others may do.
			fmt.Fprintf(os.Stderr, "replay: %s: %s\n", p.name, err)
			continue
		}
		rows = append(rows, f.row(p.name, p.kind, records, scale, cpu, 0))
	}
	return rows, nil
}

// instance runs one scheduler.
func (f *flags) instance(dir string, p peer) ([]measure.Record, float64, error) {
	out := filepath.Join(dir, "out")
	args := []string{"-k", "5", fmt.Sprint(limit), "flux", "start",
		"--conf=modules.alternatives.sched=sched-simple",
		fmt.Sprintf("--conf=fake-resources.nnodes=%d", f.nodes),
		fmt.Sprintf("--conf=fake-resources.cores-per-node=%d", f.cores),
		"flux", "python", os.Getenv("REPLAY_PY"), filepath.Join(dir, "jobs"), out}
	said, err := exec.Command("timeout", append(args, p.modules...)...).CombinedOutput()
	text, rerr := os.ReadFile(out)
	if err = errors.Join(err, rerr); err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, said)
	}
	if err := os.Remove(out); err != nil {
		return nil, 0, err
	}
	var result struct {
		Jobs []measure.Record
		CPU  float64
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, 0, err
	}
	return result.Jobs, result.CPU, nil
}
