// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/module/roles"
	"flux-burrow/t/embed"
)

const ranks = 4

// runEmbedded plays the demo's jobs in the embedded instance, in real time
// and with real processes, and leaves what a real instance leaves in dir.
func runEmbedded(dir string) error {
	here, err := filepath.Abs("t/demo")
	if err != nil {
		return err
	}
	os.Setenv("BURROW_DEMO_DIR", dir)
	tasks, err := os.Create(filepath.Join(dir, "tasks"))
	if err != nil {
		return err
	}
	defer tasks.Close()
	daemon := filepath.Join(here, "daemon")
	in := embed.New(embed.Options{
		Size:     ranks,
		Topology: "kary:2",
		RealTime: true,
		Config: fmt.Sprintf("[burrow.control]\nmethod = \"command\"\nstart = [%q, \"start\"]\nstop = [%q, \"stop\"]\nstatus = [%q, \"status\"]\n",
			daemon, daemon, daemon),
		OnTasks: func(id embed.JobID, ranks []int, running bool) {
			what := "end"
			if running {
				what = "begin"
			}
			for _, r := range ranks {
				fmt.Fprintf(tasks, "%.6f %s %d %d\n", now(), what, r, id)
			}
		},
	})
	defer in.Close()
	in.Exec(embed.RealProcesses)
	for r := range ranks {
		if _, err := in.LoadModule(r, "burrow", nil, func(h *flux.Handle, args []string) (func(), error) {
			return roles.StartAgent(h, args)
		}); err != nil {
			return err
		}
	}
	if _, err := in.DWS(embed.DWSOptions{SetupDelay: time.Second / 2, PostRunDelay: time.Second / 2}); err != nil {
		return err
	}
	if _, err := in.LoadPlugin("burrow.so", "", roles.Hooks); err != nil {
		return err
	}
	rabbit := embed.Jobspec{Nodes: 2, Run: time.Second, DW: []string{"#DW jobdw type=xfs capacity=10GiB name=project1"}}
	for _, job := range []struct {
		name   string
		spec   embed.Jobspec
		cancel bool
	}{
		{"1-rabbit", rabbit, false},
		{"2-other", embed.Jobspec{Nodes: 2, Run: time.Second}, false},
		{"3-cancelled", rabbit, true},
	} {
		id, err := in.Submit(job.spec)
		if err != nil {
			return err
		}
		if job.cancel {
			in.Run(func() bool { return posted(in, id, "prolog-start", "burrow-prolog") }, time.Minute)
			in.Advance(300 * time.Millisecond)
			if err := in.Cancel(id); err != nil {
				return err
			}
		}
		if !in.Run(func() bool { return in.State(id) == embed.StateInactive }, time.Minute) {
			return fmt.Errorf("job %s is not over after a minute: %s", job.name, in.State(id))
		}
		if err := save(in, dir, job.name, id); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "dws"), []byte("the embedded instance's dws\n"), 0o644)
}

func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

func posted(in *embed.Instance, id embed.JobID, name, description string) bool {
	for _, e := range in.Eventlog(id) {
		if e.Name == name && strings.Contains(string(e.Context), description) {
			return true
		}
	}
	return false
}

// save writes a job's eventlog and id as flux job eventlog does.
func save(in *embed.Instance, dir, name string, id embed.JobID) error {
	var log strings.Builder
	for _, e := range in.Eventlog(id) {
		line := map[string]any{"timestamp": e.Time, "name": e.Name}
		if len(e.Context) > 0 {
			line["context"] = json.RawMessage(e.Context)
		}
		b, err := json.Marshal(line)
		if err != nil {
			return err
		}
		log.Write(append(b, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "eventlog."+name), []byte(log.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "id."+name), fmt.Appendf(nil, "%d\n", id), 0o644)
}
