// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync/atomic"
	"time"
)

// Options of an Instance. The zero value is one rank, first in first out.
type Options struct {
	Size     int    // ranks; 0: 1
	Topology string // kary:N, kary:0 (flat), custom:P1,P2,...; "": kary:2
	// Seed chooses among all orders that a real Flux leaves open; 0: first in
	// first out.
	Seed    uint64
	Latency time.Duration // of each link of the tree
	// RealTime has the clock be the wall's: for demonstrations.
	RealTime bool
	// Config is the instance's configuration, TOML or a JSON object.
	Config string
	Owner  uint32
	Attrs  map[string]string // broker attributes besides the usual ones

	Cores, GPUs int      // of each node; 0 cores: 2
	Hosts       []string // host names by rank; nil: node0, node1, ...
	R           string   // the inventory, instead of Cores, GPUs and Hosts
	NoScheduler bool     // none until a module or LoadAllocator
	// Shrink: ranks that are lost are taken from the scheduler for good, as
	// where resources were discovered and not configured.
	Shrink bool

	// Plugins are those of the configuration, loaded at once.
	Plugins []PluginSpec

	// NoReattach: job shells do not survive a reload of the exec service or a
	// restart of the brokers, as where they are children of these.
	NoReattach bool
	// LostAfter is how long it takes until a crashed broker is missed: the next
	// message to it finds out, and the heartbeat does, each 2 s on a real one.
	LostAfter time.Duration

	ExecDelay    func(JobID, ExecPhase) time.Duration
	Housekeeping func(id JobID, rank int) time.Duration

	// OnTasks is called when a job's tasks start and when they are over, at
	// that moment.
	OnTasks func(id JobID, ranks []int, running bool)
	// OnEvent is called with each event of a job as it is processed.
	OnEvent func(id JobID, e Event)
	// OnCallback is called before each plugin callback that has a handler.
	OnCallback func(plugin, topic, args string)
	// OnLog is called with each log line.
	OnLog func(LogLine)
}

// Instance is a Flux instance in this process. All of it runs in the
// goroutine that calls its functions.
type Instance struct {
	opts  Options
	rng   *rand.Rand
	born  time.Time
	epoch float64
	now   time.Duration
	seq   uint64
	steps int

	cells  cells
	loop   loop
	timers timers
	fds    fdset
	busy   atomic.Int32

	brokers     []*broker
	builtins    map[string]*builtin
	subscribers []*Handle
	clients     map[int]*Client
	nextHandle  uint32
	arrival     map[uint64]time.Duration
	events      int
	eventBytes  int

	kvs          kvs
	queues       queues
	queueConfig  string // as the job manager has it
	configured   []PluginSpec
	jm           *jobManager
	exec         *exec
	rexec        *rexec
	resource     *resource
	housekeeping housekeeping
	allocator    *allocator
	dws          *DWS
	backend      Backend
	lastID       JobID
	logs         []LogLine
	panics       []string
	leaked       map[string]int
	closed       bool
}

// epoch of the virtual clock: the day of the recordings.
const virtualEpoch = 1796051792

// New makes an instance and lets it come up.
func New(opts Options) *Instance {
	if opts.Size == 0 {
		opts.Size = 1
	}
	if opts.Topology == "" {
		opts.Topology = "kary:2"
	}
	if opts.Cores == 0 {
		opts.Cores = 2
	}
	in := &Instance{opts: opts, born: time.Now(), epoch: virtualEpoch,
		builtins: map[string]*builtin{}, leaked: map[string]int{}}
	if opts.RealTime {
		in.epoch = float64(in.born.UnixNano()) / 1e9
	}
	if opts.Seed != 0 {
		in.rng = rand.New(rand.NewPCG(opts.Seed, 0x9e3779b97f4a7c15))
		in.loop.channels = map[uint64]*channel{}
	}
	parents, err := parentsOf(opts.Topology, opts.Size)
	if err != nil {
		panic(err)
	}
	config, err := parseConfig(opts.Config)
	if err != nil {
		panic(fmt.Sprintf("embed: configuration: %v", err))
	}
	in.configureQueues(config)
	register(in)
	in.newBrokers(parents, config)
	in.kvs = kvs{data: map[string]string{}, h: in.newHandle(0, "kvs")}
	in.housekeeping.in = in
	in.resource = in.newResource()
	in.rexec = in.newRexec()
	in.newServices()
	in.exec = in.newExec()
	in.jm = in.newJobManager()
	in.configured = opts.Plugins
	if len(opts.Plugins) > 0 {
		in.jm.loadConfigured()
	}
	in.jm.execUp = true
	if !opts.NoScheduler {
		in.LoadAllocator()
	}
	in.Settle()
	return in
}

// Close ends the instance: modules are unloaded, newest first, then the job
// manager with its plugins, and all C memory is freed. Leaks tells afterwards
// what the code under test left.
func (in *Instance) Close() {
	if in.closed {
		return
	}
	for r := len(in.brokers) - 1; r >= 0; r-- {
		b := in.brokers[r]
		for len(b.modules) > 0 {
			b.modules[len(b.modules)-1].Unload()
		}
	}
	in.rexec.killAll()
	in.jm.shutdown(true)
	for _, o := range in.cells.objs {
		switch o := o.(type) {
		case *Msg:
			if o.to == nil || !o.to.crashed {
				in.leaked[kindNames[kindMsg]]++
			}
		case *Future:
			in.leaked[kindNames[kindFuture]]++
		case *Watcher:
			in.leaked[kindNames[kindWatcher]]++
		case *msgHandler:
			in.leaked[kindNames[kindHandler]]++
		case *Args:
			in.leaked[kindNames[kindArgs]]++
		}
	}
	in.closed = true
	in.closeFDs()
	unregister(in)
	in.cells.close()
}

// reclaim takes back what a closed handle still had. Where it was closed in
// order the code under test should have destroyed it: a leak.
func (in *Instance) reclaim(h *Handle, orderly bool) {
	leak := func(k kind) {
		if orderly {
			in.leaked[kindNames[k]]++
		}
	}
	for f := range h.live {
		if f.cell != nil {
			leak(kindFuture)
		}
		f.destroy()
	}
	for _, mh := range append([]*msgHandler(nil), h.handlers...) {
		leak(kindHandler)
		mh.destroy()
	}
	for _, list := range h.methods {
		for _, mh := range append([]*msgHandler(nil), list...) {
			leak(kindHandler)
			mh.destroy()
		}
	}
	for w := range h.watchers {
		leak(kindWatcher)
		if !orderly && !w.isTimer && w.active {
			in.fds.lost = append(in.fds.lost, w.fd)
		}
		w.destroy()
	}
	for l := h.requests.next; l != &h.requests; l = l.next {
		m := l.m
		for !orderly && m.refs > 0 {
			m.decref()
		}
	}
	h.requests.init()
}

// Leaks lists what was not destroyed by modules that were unloaded and, after
// Close, by anyone: "flux_future_t: 2". Killed modules are forgiven.
func (in *Instance) Leaks() []string {
	var list []string
	for k, n := range in.leaked {
		list = append(list, fmt.Sprintf("%s: %d", k, n))
	}
	sort.Strings(list)
	return list
}

// LiveTransactions is the number of flux_kvs_txn_t in the process that were not
// destroyed: they belong to no instance.
func LiveTransactions() int { return int(liveTxns.Load()) }

// Panics lists what would have ended a real broker: a module that failed.
func (in *Instance) Panics() []string { return in.panics }

// Steps is how many steps were made.
func (in *Instance) Steps() int { return in.steps }
