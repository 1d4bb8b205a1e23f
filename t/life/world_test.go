// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks/config"
	"flux-burrow/module/roles"
	"flux-burrow/t/embed"
)

// setup is what a world is made of.
type setup struct {
	Seed     uint64
	Size     int
	Topology string
	Latency  time.Duration
	Shared   bool // jobs share nodes

	Off        bool          // enable = false
	Timeout    time.Duration // 0: serviceTimeout
	OnFailure  string        // "": the default, drain
	Tolerate   int
	EnvTimeout time.Duration
	Services   []service // nil: the default one
	NoStatus   bool      // no status command

	DWS          dwsOrder
	SetupDelay   time.Duration
	PostRunDelay time.Duration
	EpilogLimit  time.Duration // dws's epilog-timeout
	Once         bool          // dws's service does not repeat itself
	LostAfter    time.Duration
	Kill         time.Duration // from an exception to the end of the tasks
	NoReattach   bool
	// Gone: once the plugin is removed, it is not loaded again before the very
	// end.
	Gone bool
	// Sick: what is broken at the end stays so for a while.
	Sick bool
}

// service is a unit and the phases in which it is up.
type service struct {
	Unit string
	Up   string // words of a TOML list
}

// dwsOrder says where the dws plugin is in the list.
type dwsOrder int

const (
	dwsFirst dwsOrder = iota
	dwsLast
	dwsNone
)

const (
	serviceTimeout = 2 * time.Second
	theUnit        = "nnf-clientmount.service"
)

var dw = []string{"#DW jobdw type=xfs capacity=10GiB name=test"}

func (s setup) toml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[burrow]\nservice-timeout = %q\n", cmp.Or(s.Timeout, serviceTimeout))
	if s.Off {
		b.WriteString("enable = false\n")
	}
	if s.OnFailure != "" {
		fmt.Fprintf(&b, "on-failure = %q\n", s.OnFailure)
	}
	if s.Tolerate > 0 {
		fmt.Fprintf(&b, "tolerate = %d\n", s.Tolerate)
	}
	if s.EnvTimeout > 0 {
		fmt.Fprintf(&b, "environment-timeout = %q\n", s.EnvTimeout)
	}
	for _, v := range s.Services {
		fmt.Fprintf(&b, "[[burrow.services]]\nunit = %q\nup = [%s]\n", v.Unit, v.Up)
	}
	b.WriteString("[burrow.control]\nmethod = \"command\"\nstart = [\"svc\", \"start\"]\nstop = [\"svc\", \"stop\"]\n")
	if !s.NoStatus {
		b.WriteString("status = [\"svc\", \"status\"]\n")
	}
	return b.String()
}

// world is an instance with all that burrow needs, and a witness.
type world struct {
	setup
	in    *embed.Instance
	dws   *embed.DWS
	cfg   *config.Config
	nodes *nodes
	*witness

	giveUp    map[embed.JobID]bool
	noEnv     map[embed.JobID]bool
	setupFail map[embed.JobID]bool
	agents    []*embed.Module
	// blind are ranks whose agent was loaded while the plugin was not there, and
	// until when they know nothing of jobs.
	blind map[int]time.Duration
	// gapSince and gapUntil: the last time when no rank had an agent.
	gapSince, gapUntil time.Duration
}

// newWorld makes a world that has come up: all services as idle asks.
func newWorld(s setup) *world {
	if s.Size == 0 {
		s.Size = 4
	}
	if s.Kill == 0 {
		s.Kill = 30 * time.Millisecond
	}
	w := &world{setup: s, giveUp: map[embed.JobID]bool{}, noEnv: map[embed.JobID]bool{}, setupFail: map[embed.JobID]bool{},
		blind: map[int]time.Duration{}}
	text := s.toml()
	w.witness = newWitness(w)
	w.in = embed.New(embed.Options{
		Size: s.Size, Topology: s.Topology, Seed: s.Seed, Latency: s.Latency, Config: text, Cores: 4,
		LostAfter: s.LostAfter, NoReattach: s.NoReattach,
		OnTasks: w.witness.tasks,
		OnEvent: w.witness.event,
		ExecDelay: func(_ embed.JobID, p embed.ExecPhase) time.Duration {
			if p == embed.ExecKill {
				return s.Kill
			}
			return 5 * time.Millisecond
		},
	})
	var err error
	if w.cfg, err = config.Parse([]byte(w.in.Config())); err != nil {
		panic(err)
	}
	w.newPolicy()
	w.reloaded = 0
	w.nodes = newNodes(w)
	w.in.Exec(w.nodes.run)
	w.agents = make([]*embed.Module, s.Size)
	if s.DWS == dwsFirst {
		w.loadDWS()
	}
	w.loadPlugin()
	if s.DWS == dwsLast {
		w.loadDWS()
	}
	for r := range s.Size {
		w.loadAgent(r)
	}
	w.loadOther()
	w.advance(time.Second)
	return w
}

// maxSteps bounds a life: more means that something goes round in circles.
const maxSteps = 400_000

// run is Instance.Run with an end for what goes round in circles.
func (w *world) run(until func() bool, limit time.Duration) bool {
	if w.in.Steps() > maxSteps {
		return false
	}
	done := false
	w.in.Run(func() bool {
		done = until != nil && until()
		return done || w.in.Steps() > maxSteps
	}, limit)
	if w.in.Steps() > maxSteps {
		w.violated("it goes round in circles: %d steps", w.in.Steps())
	}
	return done
}

// advance lets time pass.
func (w *world) advance(d time.Duration) {
	end := w.in.Elapsed() + d
	w.run(nil, d)
	if rest := end - w.in.Elapsed(); rest > 0 && w.in.Steps() <= maxSteps {
		w.in.Advance(rest)
	}
}

func (w *world) loadDWS() {
	var err error
	w.dws, err = w.in.DWS(embed.DWSOptions{
		SetupDelay:    w.SetupDelay,
		PostRunDelay:  w.PostRunDelay,
		EpilogTimeout: w.EpilogLimit,
		Once:          w.Once,
		NoEnvironment: func(id embed.JobID) bool { return w.noEnv[id] },
		SetupFail:     func(id embed.JobID) bool { return w.setupFail[id] },
		MountNeeds:    func(_ embed.JobID, ranks []int) bool { return w.nodes.mountable(ranks) },
		UnmountNeeds:  func(id embed.JobID, ranks []int) bool { return w.giveUp[id] || w.nodes.mountable(ranks) },
		EpilogStatus: func(id embed.JobID) int {
			if w.giveUp[id] {
				return 1
			}
			return 0
		},
	})
	if err != nil {
		panic(err)
	}
}

// removeDWS and reloadDWS: what the dws plugin knew of jobs is lost.
func (w *world) removeDWS() {
	if w.dwsLoaded() {
		if err := w.dws.Remove(); err != nil {
			panic(err)
		}
	}
}

func (w *world) reloadDWS() {
	if w.dws == nil || w.dwsLoaded() {
		return
	}
	if err := w.dws.Load(); err != nil {
		panic(err)
	}
}

func (w *world) dwsLoaded() bool { return w.dws != nil && w.dws.Loaded() }

// reload gives the instance another configuration.
func (w *world) reload(s setup) {
	if err := w.in.ConfigReload(s.toml()); err != nil {
		w.violated("a configuration is refused: %v", err)
		return
	}
	w.Off, w.Timeout = s.Off, s.Timeout
	w.OnFailure, w.Tolerate, w.EnvTimeout, w.Services, w.NoStatus = s.OnFailure, s.Tolerate, s.EnvTimeout, s.Services, s.NoStatus
	var err error
	if w.cfg, err = config.Parse([]byte(w.in.Config())); err != nil {
		panic(err)
	}
	w.newPolicy()
}

// badReload gives it one that is refused, by burrow or by another module,
// which may come after burrow: nothing changes, in the end.
func (w *world) badReload(n int) {
	if !w.pluginUp && !w.live(0) {
		return // nobody of burrow is there to refuse
	}
	before := w.in.Config()
	good := w.setup
	good.Tolerate = n / 8 % 3
	text := good.toml() + "[other]\nbad = true\n"
	switch n % 5 {
	case 0:
		text = "[burrow]\nservice-timout = \"1s\"\n"
	case 1:
		text = "[[burrow.services]]\nunit = \"x.service\"\nup = [\"mounting\"]\n"
	case 2:
		good.Services = []service{{"jitter.service", `"mount"`}}
		good.NoStatus = !good.NoStatus
		text = good.toml() + "[other]\nbad = true\n"
	case 3:
		text = good.toml() + "[job-manager.housekeeping]\nrelease-after = \"x\"\n"
	}
	if err := w.in.ConfigReload(text); err == nil {
		w.violated("a bad configuration is taken")
	}
	if w.in.Config() != before {
		w.violated("a configuration that is refused stays")
	}
	if n%5 > 1 {
		w.reloaded = w.now()
	}
}

// other is a module that refuses a configuration.
func other(h *flux.Handle, _ []string) (func(), error) {
	m, err := h.HandleRequest("other.config-reload", 0, func(r *flux.Request) {
		p, err := r.Payload()
		if err == nil && gjson.Get(p, "other.bad").Bool() {
			_ = r.RespondError(&flux.Error{Num: syscall.EINVAL, Text: "other.bad"})
			return
		}
		_ = r.Respond("")
	})
	if err != nil {
		return nil, err
	}
	return m.Destroy, nil
}

func (w *world) loadOther() {
	if _, err := w.in.LoadModule(0, "other", nil, other); err != nil {
		panic(err)
	}
}

// current tells whether a rank's broker has the leader's configuration.
func (w *world) current(rank int) bool { return w.in.ConfigOn(rank) == w.in.Config() }

// configOn is burrow's configuration on a rank.
func (w *world) configOn(rank int) *config.Config {
	if w.current(rank) {
		return w.cfg
	}
	cfg, err := config.Parse([]byte(w.in.ConfigOn(rank)))
	if err != nil {
		panic(err)
	}
	return cfg
}

// steal is another plugin that finishes a hold of its own twice.
func (w *world) steal(id embed.JobID) {
	j := w.job(id)
	if !j.alloc || j.over {
		return
	}
	what := "prolog-finish"
	if j.cleanup {
		what = "epilog-finish"
	}
	w.in.PostEvent(id, what, fmt.Sprintf(`{"description":%q,"status":0}`, thief))
}

// thief is the hold of a plugin that finishes it twice.
const thief = "other"

func (w *world) loadPlugin() {
	if w.pluginUp {
		return
	}
	if _, err := w.in.LoadPlugin("burrow.so", "", roles.Hooks); err != nil {
		panic(err)
	}
	w.pluginUp, w.pluginSince = true, w.in.Elapsed()
	w.informed()
}

func (w *world) removePlugin() {
	if !w.pluginUp {
		return
	}
	w.pluginUp = false
	if err := w.in.RemovePlugin("burrow.so"); err != nil {
		panic(err)
	}
}

// live tells whether a rank has an agent.
func (w *world) live(rank int) bool {
	m := w.agents[rank]
	return w.in.Up(rank) && m != nil && !m.Ended()
}

func (w *world) loadAgent(rank int) {
	if !w.in.Up(rank) || w.live(rank) {
		return
	}
	m, err := w.in.LoadModule(rank, "burrow", nil, roles.StartAgent)
	if err != nil {
		// A broker that crashed and is not missed yet can't answer.
		if w.LostAfter == 0 {
			panic(err)
		}
		return
	}
	w.agents[rank] = m
	if !w.active() {
		w.blind[rank] = math.MaxInt64
	}
}

func (w *world) loadAgents() {
	for r := range w.Size {
		w.loadAgent(r)
	}
}

// killAgent ends an agent as kill -9 would; unloadAgent in order.
func (w *world) killAgent(rank int) {
	if w.live(rank) {
		w.blame(rank, agentGone...)
		w.agents[rank].Kill()
	}
}

func (w *world) unloadAgent(rank int) {
	if w.live(rank) {
		w.blame(rank, agentGone...)
		w.agents[rank].Unload()
	}
}

// reloadAgent is flux module reload: for a moment there is no agent, which is
// no reason for anything.
func (w *world) reloadAgent(rank int, gap time.Duration) {
	if w.live(rank) {
		w.agents[rank].Unload()
		w.advance(gap)
		w.loadAgent(rank)
	}
}

func (w *world) loseRank(rank int) {
	if rank == 0 || !w.in.Up(rank) {
		return
	}
	for r := range w.Size {
		if w.below(r, rank) {
			w.blame(r, agentGone...)
		}
	}
	w.in.LoseRank(rank)
}

// below tells whether rank r is in the subtree of top.
func (w *world) below(r, top int) bool {
	for ; r >= 0; r = w.in.Parent(r) {
		if r == top {
			return true
		}
	}
	return false
}

// returnRank has a rank back, and its agent loaded as rc1 does.
func (w *world) returnRank(rank int) {
	if p := w.in.Parent(rank); p < 0 || !w.in.Up(p) {
		return
	}
	w.in.ReturnRank(rank)
	w.loadAgents()
}

// agentGone are the reasons that are true of a node without its agent.
var agentGone = []string{"agent is not loaded", "lost contact", "is being unloaded", "module disconnect",
	"on the way there does not answer", "no answer from the burrow agent"}

func (w *world) restartJobManager() {
	w.orphans()
	w.in.RestartJobManager()
	w.pluginSince = w.in.Elapsed()
	w.witness.reread()
	w.orphans()
}

// restartBroker kills all brokers and starts them; agents are loaded after a
// while, as rc1 does after the job manager.
func (w *world) restartBroker() {
	w.orphans()
	w.in.RestartBroker(0)
	w.pluginSince = w.in.Elapsed()
	w.witness.reread()
	w.orphans() // by events that the crash lost
	w.gapSince = w.in.Elapsed()
	w.advance(50 * time.Millisecond)
	w.loadOther()
	w.loadAgents()
	w.gapUntil = w.in.Elapsed()
}

func (w *world) submit(s embed.Jobspec) embed.JobID {
	id, err := w.in.Submit(s)
	if err != nil {
		panic(err)
	}
	w.job(id).rabbit = s.DW != nil
	return id
}

// release drops what given-up unmounts left.
func (w *world) release(ranks string) error {
	_, err := w.in.RPC(0, 0, "job-manager.burrow.release", fmt.Sprintf(`{"ranks":%q}`, ranks))
	return err
}

func (w *world) allRanks() string { return fmt.Sprintf("0-%d", w.Size-1) }
