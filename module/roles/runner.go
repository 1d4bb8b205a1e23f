// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks/control"
)

// runner starts processes by the broker's own subprocess server, rexec (RFC
// 42). The broker reaps every child of its process, so one that this module
// forked by itself would lose its exit status.
type runner struct {
	*host
}

const (
	rexecStdout = 1
	rexecStderr = 2
	killLimit   = 5 * time.Second
)

type command struct {
	Cwd     string            `json:"cwd"`
	Cmdline []string          `json:"cmdline"`
	Env     map[string]string `json:"env"`
	Opts    map[string]string `json:"opts"`
	Channel []string          `json:"channels"`
}

// process is one that runs.
type process struct {
	*runner
	pid    int64
	exited func(status int, lastStderr string, err error)
	status int
	ended  bool
	stderr string
	// killed is a signal that came before the pid was known.
	killed int
}

// Run implements control.Runner.
func (r *runner) Run(argv []string, env map[string]string, exited func(int, string, error)) control.Process {
	p := &process{runner: r, exited: exited}
	full := map[string]string{}
	rank := strconv.FormatUint(uint64(r.rank), 10)
	for _, entry := range os.Environ() {
		if name, value, ok := strings.Cut(entry, "="); ok {
			full[name] = value
		}
	}
	full["BURROW_RANK"] = rank
	for name, value := range env {
		full[name] = value
	}
	payload, err := json.Marshal(map[string]any{
		"cmd":         command{Cwd: "/", Cmdline: argv, Env: full, Opts: map[string]string{}, Channel: []string{}},
		"flags":       rexecStdout | rexecStderr,
		"local_flags": 0,
	})
	var f *flux.Future
	if err == nil {
		f, err = r.h.RPC("rexec.exec", string(payload), r.rank, flux.Streaming)
	}
	if err == nil {
		r.futures[f] = struct{}{}
		// The end is the process's; its limit is the caller's, by Kill.
		err = f.Then(flux.Forever, p.next)
	}
	if err != nil {
		r.drop(f)
		r.After(0, func() { exited(0, "", err) })
	}
	return p
}

// next takes one response of the stream.
func (p *process) next(f *flux.Future) {
	payload, err := f.Get()
	if err != nil {
		p.drop(f)
		if errors.Is(err, syscall.ENODATA) && p.ended {
			err = nil
		}
		p.exited(p.status, strings.TrimSpace(p.stderr), err)
		return
	}
	switch gjson.Get(payload, "type").String() {
	case "started":
		p.pid = gjson.Get(payload, "pid").Int()
		if p.killed != 0 {
			p.Kill(p.killed)
		}
	case "output":
		io := gjson.GetMany(payload, "io.stream", "io.data")
		if io[0].String() == "stderr" {
			p.line(io[1].String())
		}
	case "finished":
		p.status = int(gjson.Get(payload, "status").Int())
		p.ended = true
	}
	f.Reset()
}

// line keeps the last line that is not empty.
func (p *process) line(data string) {
	for line := range strings.Lines(data) {
		if strings.TrimSpace(line) != "" {
			p.stderr = line
		}
	}
}

// Kill implements control.Process. rexec signals the process group.
func (p *process) Kill(sig int) {
	if p.pid == 0 {
		p.killed = sig
		return
	}
	payload, _ := json.Marshal(map[string]any{"pid": p.pid, "signum": sig})
	p.Call(p.rank, "rexec.kill", string(payload), killLimit, func(_ string, err error) {
		if err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.ENOENT) {
			p.h.Log(flux.LogErr, "can't signal process %d: %v", p.pid, err)
		}
	})
}
