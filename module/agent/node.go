// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

// maxEnded bounds the memory of jobs that are over, by which a late wish for
// one of them is known.
const maxEnded = 4096

// retry delays of a change that failed, while it is still wanted.
const (
	retryFirst = 5 * time.Second
	retryMost  = 5 * time.Minute
	// noticeEvery is how often a change by somebody else is put right.
	noticeEvery = 5 * time.Second
	// answerWait is what a change that has its own limit gets beyond it, to say
	// why it failed.
	answerWait = time.Second
	// reloadWait is how long others may go by the configuration before this one.
	reloadWait = time.Second
)

// service is one unit as the node knows it.
type service struct {
	config.Service
	state control.State
	// err is why the last change failed. It is not tried again before the
	// next wish or retry.
	err error
}

// Result is what became of one wish on this node.
type Result struct {
	// Failed has an error for each service that is not as the phase asks.
	Failed error
	// Skipped are the units that this node lacks.
	Skipped []string
	// Waiting: a service is up only because another job needs it.
	Waiting bool
}

// waiter is a wish that has not been answered.
type waiter struct {
	wire.Need
	reply    func(Result)
	deadline time.Time
	cancel   func()
}

// Node keeps this node's services as its jobs need them.
type Node struct {
	host Host
	ctl  control.Controller
	// next is to take ctl's place when the change under way is over.
	next control.Controller
	cfg  *config.Config

	services []*service
	needs    map[uint64]wire.Need
	// ended has the generation at which a job's need ended.
	ended map[uint64]uint64
	// floor: a need with a lower generation is void.
	floor uint64

	// paused: what is wanted is not known yet, so nothing is changed.
	paused bool
	// busy: a change or a look at the states is under way.
	busy bool
	// stale: the states are to be looked at before the next change.
	stale   bool
	waiters []*waiter

	// before is the service-timeout that others may still go by until beforeEnds.
	before     time.Duration
	beforeEnds time.Time

	// noticed is when the services were last looked at as one had changed by
	// itself; cancelNotice ends the wait for the next look.
	noticed      time.Time
	cancelNotice func()

	retryIn     time.Duration
	cancelRetry func()
	stats       Stats
	closed      bool
}

// NewNode makes a node that does nothing until Resume.
func NewNode(host Host, ctl control.Controller, cfg *config.Config) *Node {
	n := &Node{
		host:   host,
		ctl:    ctl,
		needs:  map[uint64]wire.Need{},
		ended:  map[uint64]uint64{},
		paused: true,
		stale:  true,
	}
	n.configure(cfg)
	return n
}

func (n *Node) configure(cfg *config.Config) {
	known := map[string]*service{}
	for _, s := range n.services {
		known[s.Unit] = s
	}
	n.cfg = cfg
	n.services = n.services[:0:0]
	for _, s := range cfg.Services {
		next := &service{Service: s}
		if old := known[s.Unit]; old != nil {
			next.state = old.state
		}
		n.services = append(n.services, next)
	}
}

// Reconfigure takes a new configuration and, where that changed, a new
// controller. A unit that is no longer listed stays as it is. A change under
// way is not cut off: the new controller would not know what became of it.
func (n *Node) Reconfigure(cfg *config.Config, ctl control.Controller) {
	if ctl != nil {
		if n.next != nil {
			n.next.Close()
		}
		n.next = ctl
	}
	// Who asked may have done so by the new service-timeout, as the leader is
	// first to have it, or by the old one: the answer comes in time for both.
	for _, w := range n.waiters {
		if left := w.deadline.Sub(n.host.Now()); cfg.ServiceTimeout+answerWait < left {
			w.cancel()
			n.limit(w, cfg.ServiceTimeout+answerWait)
		}
	}
	if cfg.ServiceTimeout > n.cfg.ServiceTimeout {
		n.before, n.beforeEnds = n.cfg.ServiceTimeout, n.host.Now().Add(reloadWait)
	}
	n.configure(cfg)
	n.stale = true
	// With enable = false only windows that are open go on.
	if cfg.Enable || len(n.waiters) > 0 {
		n.step()
	}
}

// Resume starts the work with what the hooks say is wanted.
func (n *Node) Resume(needs []wire.Need, floor uint64) {
	n.raise(floor)
	for _, need := range needs {
		n.take(need)
	}
	n.paused = false
	n.step()
}

// Notice has the services looked at and brought to what is wanted, as one was
// changed by somebody else or ended by itself. A service that keeps ending is
// not started more often than each noticeEvery, and one that can't be started
// is left to the retry. With enable = false it is whoever changed it that
// looks after it.
func (n *Node) Notice() {
	if n.closed || n.cancelNotice != nil || !n.cfg.Enable {
		return
	}
	wait := max(noticeEvery-n.host.Now().Sub(n.noticed), 0)
	n.cancelNotice = n.host.After(wait, func() {
		n.cancelNotice = nil
		if !n.cfg.Enable {
			return
		}
		n.noticed = n.host.Now()
		n.stale = true
		n.step()
	})
}

// Paused tells whether the node waits for Resume.
func (n *Node) Paused() bool { return n.paused }

// raise voids all needs below a generation.
func (n *Node) raise(floor uint64) {
	if floor <= n.floor {
		return
	}
	n.floor = floor
	for id, need := range n.needs {
		if need.Gen < floor {
			delete(n.needs, id)
		}
	}
	for id, gen := range n.ended {
		if gen < floor {
			delete(n.ended, id)
		}
	}
}

// take makes a need known, if none that is newer is, and tells whether it is
// the one that holds.
func (n *Node) take(need wire.Need) bool {
	if need.Gen < n.floor || need.Gen < n.needs[need.ID].Gen || need.Gen < n.ended[need.ID] {
		return false
	}
	if have, ok := n.needs[need.ID]; ok && have.Gen == need.Gen {
		return have.Phase == need.Phase
	}
	if gen, ok := n.ended[need.ID]; ok && gen == need.Gen {
		return need.Phase == phase.Idle
	}
	if need.Phase != phase.Idle {
		delete(n.ended, need.ID)
		n.needs[need.ID] = need
		return true
	}
	delete(n.needs, need.ID)
	if len(n.ended) >= maxEnded {
		n.forgetOldest()
	}
	n.ended[need.ID] = need.Gen
	return true
}

// forgetOldest drops the older half of the jobs that are over.
func (n *Node) forgetOldest() {
	gens := make([]uint64, 0, len(n.ended))
	for _, gen := range n.ended {
		gens = append(gens, gen)
	}
	slices.Sort(gens)
	for id, gen := range n.ended {
		if gen <= gens[len(gens)/2] {
			delete(n.ended, id)
		}
	}
}

// Set takes a wish and calls reply, perhaps at once, when the services are as
// it asks, or can't be made so, or service-timeout is over. A wish that is
// older than one already known changes nothing and is answered at once.
func (n *Node) Set(need wire.Need, reply func(Result)) {
	n.stats.Sets++
	if need.ID == 0 {
		n.raise(need.Gen)
	} else if !n.take(need) {
		n.stats.Late++
		reply(Result{})
		return
	}
	start := n.host.Now()
	w := &waiter{Need: need}
	w.reply = func(r Result) {
		n.stats.add(n.host.Now().Sub(start))
		reply(r)
	}
	timeout := n.cfg.ServiceTimeout
	if start.Before(n.beforeEnds) {
		timeout = min(timeout, n.before)
	}
	n.limit(w, timeout+answerWait)
	n.waiters = append(n.waiters, w)
	n.again()
	n.step()
}

// limit sets how long a wish may wait from now on.
func (n *Node) limit(w *waiter, d time.Duration) {
	w.deadline = n.host.Now().Add(d)
	w.cancel = n.host.After(d, func() { n.expire(w) })
}

// again has failed changes tried once more, and the states looked at where
// that costs nothing.
func (n *Node) again() {
	for _, s := range n.services {
		s.err = nil
	}
	if n.cfg.Control.Method == config.Systemd {
		n.stale = true
	}
}

// expire answers a wish that took too long.
func (n *Node) expire(w *waiter) {
	i := slices.Index(n.waiters, w)
	if i < 0 {
		return
	}
	n.waiters = slices.Delete(n.waiters, i, i+1)
	w.reply(n.judge(w))
}

func wanted(up bool) control.State {
	if up {
		return control.Up
	}
	return control.Down
}

func verb(want control.State) control.Verb {
	if want == control.Up {
		return control.Start
	}
	return control.Stop
}

// target is what a service is to be for the needs of all jobs, and the need
// that says so.
func (n *Node) target(s *service) (control.State, wire.Need) {
	if len(n.needs) == 0 {
		return wanted(s.Up.Has(phase.Idle)), wire.Need{Phase: phase.Idle}
	}
	var by wire.Need
	for _, need := range n.Needs() {
		if s.Up.Has(need.Phase) {
			return control.Up, need
		}
		if need.Gen >= by.Gen {
			by = need
		}
	}
	return control.Down, by
}

// Needs lists the jobs' needs by job.
func (n *Node) Needs() []wire.Need {
	list := make([]wire.Need, 0, len(n.needs))
	for _, need := range n.needs {
		list = append(list, need)
	}
	slices.SortFunc(list, func(a, b wire.Need) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// judge compares the services with what a wish asks for.
func (n *Node) judge(w *waiter) Result {
	var r Result
	var faults *multierror.Error
	for _, s := range n.services {
		want := wanted(s.Up.Has(w.Phase))
		target, _ := n.target(s)
		switch {
		case s.state == control.Absent:
			r.Skipped = append(r.Skipped, s.Unit)
		case s.state == want:
		case target != want:
			// As another job needs it, or on its way there.
			r.Waiting = true
		case s.err != nil:
			faults = multierror.Append(faults, s.err)
		case n.busy || n.paused:
			faults = multierror.Append(faults, fmt.Errorf("%s %s: not %s after %v", verb(want), s.Unit, want, n.cfg.ServiceTimeout))
		default:
			faults = multierror.Append(faults, fmt.Errorf("%s %s: is %s, not %s", verb(want), s.Unit, s.state, want))
		}
	}
	if faults != nil {
		faults.ErrorFormat = joined
		r.Failed = faults
	}
	return r
}

func joined(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Status is the node as it is.
func (n *Node) Status() wire.NodeStatus {
	st := wire.NodeStatus{Services: []wire.ServiceStatus{}, Needs: n.Needs()}
	for _, s := range n.services {
		target, _ := n.target(s)
		one := wire.ServiceStatus{Unit: s.Unit, State: s.state.String(), Wanted: target.String()}
		if n.paused {
			one.Wanted = control.Unknown.String()
		}
		if s.err != nil {
			one.Error = s.err.Error()
		}
		st.Services = append(st.Services, one)
	}
	return st
}

// Close answers what waits and stops. Services stay as they are.
func (n *Node) Close() {
	n.closed = true
	for _, cancel := range []func(){n.cancelRetry, n.cancelNotice} {
		if cancel != nil {
			cancel()
		}
	}
	waiters := n.waiters
	n.waiters = nil
	for _, w := range waiters {
		w.cancel()
		w.reply(Result{Failed: errUnloaded})
	}
	n.ctl.Close()
	if n.next != nil {
		n.next.Close()
	}
}
