// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"syscall"
	"time"
)

// rexec is the subprocess service of every rank (RFC 42): rexec.exec streams
// started, output, finished and then ENODATA; a process that can't be started
// is an error. What a process does is up to the backend.
type rexec struct {
	in      *Instance
	nextPID int
	procs   map[int][]*proc // by rank, in the order of their start
	count   int
}

// Command is what a request asks to be run.
type Command struct {
	Rank  int
	Args  []string
	Env   map[string]string
	Cwd   string
	Label string
}

// Process is how a virtual process runs.
type Process struct {
	Duration time.Duration // Forever: it hangs until it is killed
	Status   int           // wait status: exit code << 8, or a signal
	Stdout   string
	Stderr   string
	// Errno refuses it, with Text: ENOENT, EACCES and so on.
	Errno syscall.Errno
	Text  string
	// Done is called when it ends, before anyone is told.
	Done func(status int)
	// OnSignal is called with a signal; true: it is ignored.
	OnSignal func(signal int) bool
	// run is set by the real backend.
	run realProcess
}

// Backend makes processes.
type Backend func(Command) Process

type proc struct {
	x       *rexec
	h       *Handle
	m       *Msg
	pid     int
	label   string
	streams []string // that are forwarded
	spec    Process
	timer   *timer
	ended   bool
	silent  bool
}

func (in *Instance) newRexec() *rexec {
	x := &rexec{in: in, nextPID: 1000, procs: map[int][]*proc{}}
	in.builtins["rexec"] = &builtin{serve: x.request}
	return x
}

// Exec sets what processes do. The default refuses each with ENOENT.
func (in *Instance) Exec(b Backend) { in.backend = b }

func (x *rexec) request(r *Request) {
	if r.rolemask&1 == 0 {
		r.RespondError(syscall.EPERM, "Request requires owner credentials")
		return
	}
	switch r.Topic() {
	case "rexec.exec":
		x.exec(r)
	case "rexec.kill":
		x.kill(r)
	case "rexec.list":
		x.list(r)
	case "rexec.disconnect":
		// A client that goes takes its processes with it.
		for _, p := range x.of(r.Rank()) {
			if p.m.from == r.Msg.from {
				p.silent = true
				p.signal(9)
			}
		}
	default:
		unknownMethod(r)
	}
}

func (x *rexec) of(rank int) []*proc { return append([]*proc(nil), x.procs[rank]...) }

func (x *rexec) add(p *proc) {
	x.procs[p.h.rank] = append(x.procs[p.h.rank], p)
	x.count++
}

func (x *rexec) remove(p *proc) {
	list := x.procs[p.h.rank]
	for i, o := range list {
		if o == p {
			x.procs[p.h.rank] = append(list[:i:i], list[i+1:]...)
			x.count--
			return
		}
	}
}

// flags of an exec request: which streams are forwarded.
const (
	flagStdout = 1
	flagStderr = 2
)

func (x *rexec) exec(r *Request) {
	p := jsonParse(r.Payload())
	cmd := p.Get("cmd")
	if !cmd.IsObject() {
		r.RespondError(syscall.EPROTO, "invalid request payload")
		return
	}
	if !r.Streaming() {
		r.RespondError(syscall.EPROTO, "exec request is missing STREAMING flag")
		return
	}
	c := Command{Rank: r.Rank(), Env: map[string]string{}, Cwd: cmd.Get("cwd").Str, Label: cmd.Get("label").Str}
	for _, a := range cmd.Get("cmdline").Array() {
		c.Args = append(c.Args, a.Str)
	}
	for k, v := range cmd.Get("env").Map() {
		c.Env[k] = v.Str
	}
	if len(c.Args) == 0 || c.Args[0] == "" {
		r.RespondError(syscall.EPROTO, "command string is empty")
		return
	}
	for _, o := range x.of(c.Rank) {
		if c.Label != "" && o.label == c.Label {
			r.RespondError(syscall.EEXIST, "command label is not unique")
			return
		}
	}
	spec := Process{Errno: syscall.ENOENT}
	if x.in.backend != nil {
		spec = x.in.backend(c)
	}
	if spec.Errno != 0 {
		text := spec.Text
		if text == "" {
			text = "error launching process: " + strerror(spec.Errno)
		}
		r.RespondError(spec.Errno, text)
		return
	}
	x.nextPID++
	r.Msg.incref()
	pr := &proc{x: x, h: r.Msg.to, m: r.Msg, pid: x.nextPID, label: c.Label, spec: spec}
	if spec.run != nil {
		pr.pid = spec.run.pid()
	}
	x.add(pr)
	r.Respond(fmt.Sprintf(`{"type":"started","pid":%d}`, pr.pid))
	flags := p.Get("flags").Int()
	if flags&flagStdout != 0 {
		pr.streams = append(pr.streams, "stdout")
	}
	if flags&flagStderr != 0 {
		pr.streams = append(pr.streams, "stderr")
	}
	if spec.run != nil {
		spec.run.watch(x.in, func(stdout, stderr string, status int) {
			pr.spec.Stdout, pr.spec.Stderr = stdout, stderr
			pr.end(status)
		})
		return
	}
	if spec.Duration >= 0 {
		pr.timer = x.in.after(pr.h, spec.Duration, func() { pr.end(spec.Status) })
	}
}

// end tells of a process that is over. Output and the end of a stream may come
// before finished or after it, all come before ENODATA; which stream is first
// is open too (seen on 0.88).
func (p *proc) end(status int) {
	if p.ended {
		return
	}
	p.ended = true
	in := p.x.in
	if p.timer != nil {
		in.disarm(p.timer)
	}
	p.x.remove(p)
	if p.spec.Done != nil {
		p.spec.Done(status)
	}
	if !p.silent {
		streams := p.streams
		at := len(streams) // where finished comes
		if in.random() {
			in.rng.Shuffle(len(streams), func(i, k int) { streams[i], streams[k] = streams[k], streams[i] })
			at = in.rng.IntN(len(streams) + 1)
		}
		for i := 0; i <= len(streams); i++ {
			if i == at {
				p.h.respond(p.m, fmt.Sprintf(`{"type":"finished","status":%d}`, status), true)
			}
			if i < len(streams) {
				p.output(streams[i])
			}
		}
		p.h.respondError(p.m, syscall.ENODATA, "")
	}
	p.m.decref()
}

func (p *proc) output(stream string) {
	data := p.spec.Stdout
	if stream == "stderr" {
		data = p.spec.Stderr
	}
	if data != "" {
		p.h.respond(p.m, fmt.Sprintf(`{"type":"output","pid":%d,"io":{"stream":"%s","rank":"%d","data":%s}}`,
			p.pid, stream, p.h.rank, quote(data)), true)
	}
	p.h.respond(p.m, fmt.Sprintf(`{"type":"output","pid":%d,"io":{"stream":"%s","rank":"%d","eof":true}}`,
		p.pid, stream, p.h.rank), true)
}

func (p *proc) signal(sig int) {
	if p.spec.run != nil {
		p.spec.run.signal(sig)
		return
	}
	if p.spec.OnSignal != nil && p.spec.OnSignal(sig) {
		return
	}
	p.x.in.postSelf(p.h, func() { p.end(sig) })
}

func (x *rexec) kill(r *Request) {
	p := jsonParse(r.Payload())
	if !p.Get("pid").Exists() || !p.Get("signum").Exists() {
		r.RespondError(syscall.EPROTO, "invalid request payload")
		return
	}
	pid, label := int(p.Get("pid").Int()), p.Get("label").Str
	for _, o := range x.of(r.Rank()) {
		if label != "" && o.label == label || label == "" && o.pid == pid {
			o.signal(int(p.Get("signum").Int()))
			r.Respond("")
			return
		}
	}
	if label != "" {
		r.RespondError(syscall.ESRCH, "label "+label+" does not belong to any subprocess")
		return
	}
	r.RespondError(syscall.ESRCH, fmt.Sprintf("pid %d does not belong to any subprocess", pid))
}

func (x *rexec) list(r *Request) {
	procs := []map[string]any{}
	for _, p := range x.of(r.Rank()) {
		procs = append(procs, map[string]any{"pid": p.pid, "label": p.label, "state": "R"})
	}
	r.RespondJSON(map[string]any{"rank": r.Rank(), "procs": procs})
}

// lost: processes of a crashed broker get no answer out. They die with it.
func (x *rexec) lost(brokers []*broker) {
	for _, b := range brokers {
		for _, p := range x.of(b.rank) {
			p.silent = true
			if p.spec.run != nil {
				p.spec.run.signal(9)
			}
			p.end(9)
		}
	}
}

func (x *rexec) killAll() { x.lost(x.in.brokers) }

// Processes is the number of processes that run.
func (in *Instance) Processes() int { return in.rexec.count }

type realProcess interface {
	pid() int
	signal(sig int)
	// watch has done called in the loop when the process is over.
	watch(in *Instance, done func(stdout, stderr string, status int))
}
