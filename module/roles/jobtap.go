// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/wire"
	"flux-burrow/module/agent"
	"flux-burrow/rv1reader/idset"
)

// Limits of the hooks' own requests.
const (
	kvsLimit   = 30 * time.Second
	drainLimit = 30 * time.Second
	execLimit  = 30 * time.Second
)

// jobtap implements hooks.Host.
type jobtap struct {
	*host
	p    *flux.Plugin
	size uint32
	// tree is the overlay, once it is known; what is to be set before then
	// waits for it.
	tree    *agent.Tree
	waiting []func()
	// limit is service-timeout.
	limit time.Duration
}

func newJobtap(o *host, p *flux.Plugin) *jobtap { return &jobtap{host: o, p: p} }

// start asks for the shape of the overlay.
func (j *jobtap) start() error {
	var err error
	if j.size, err = j.h.Size(); err != nil {
		return err
	}
	j.topology(int(j.size), 0, func(tree *agent.Tree) {
		j.tree = tree
		for _, fn := range j.waiting {
			fn()
		}
		j.waiting = nil
	})
	return nil
}

// topology asks for the shape of the overlay of an instance of size brokers.
func (o *host) topology(size, tries int, done func(*agent.Tree)) {
	o.Call(o.rank, "overlay.topology", fmt.Sprintf(`{"rank":%d}`, o.rank), startLimit, func(payload string, err error) {
		var tree *agent.Tree
		if err == nil {
			tree, err = agent.ParseTree(payload)
		}
		if err != nil && tries < 3 {
			o.After(time.Second, func() { o.topology(size, tries+1, done) })
			return
		}
		if err != nil {
			// All that is lost is the way around a leader without an agent.
			o.Log(flux.LogErr, "overlay.topology: %v", err)
			tree = &agent.Tree{Rank: o.rank, Ranks: idset.NewRange(0, size-1)}
		}
		done(tree)
	})
}

func (j *jobtap) HoldProlog(id uint64, description string, current bool) error {
	if current {
		return j.p.PrologStart(description)
	}
	return j.p.PostPerilog(id, "prolog-start", description)
}

func (j *jobtap) HoldEpilog(id uint64, description string, current bool) error {
	if current {
		return j.p.EpilogStart(description)
	}
	return j.p.PostPerilog(id, "epilog-start", description)
}

func (j *jobtap) FreeProlog(id uint64, description string, status int) error {
	return j.p.PrologFinish(id, description, status)
}

func (j *jobtap) FreeEpilog(id uint64, description string, status int) error {
	return j.p.EpilogFinish(id, description, status)
}

func (j *jobtap) Raise(id uint64, kind string, severity int, note string) error {
	return j.p.Raise(id, kind, severity, note)
}

func (j *jobtap) Subscribe(id uint64) error { return j.p.JobSubscribe(id) }

// Set implements hooks.Host: the leader's agent is asked first, and where it
// has none, the ranks below it.
func (j *jobtap) Set(req wire.SetRequest, done func(wire.SetResponse)) {
	if j.tree == nil {
		j.waiting = append(j.waiting, func() { j.Set(req, done) })
		return
	}
	agent.SetBelow(j.host, pluginName, j.tree, j.limit, req, nil, nil, done)
}

func (j *jobtap) Drain(ranks *idset.Set, reason string) {
	payload := wire.Encode(map[string]string{"targets": ranks.String(), "reason": reason, "mode": "update"})
	j.Call(flux.NodeAny, "resource.drain", payload, drainLimit, func(_ string, err error) {
		if err != nil {
			j.Log(flux.LogErr, "can't drain ranks %s (%s): %v", ranks, reason, err)
		}
	})
}

func (j *jobtap) Eventlog(id uint64, done func(string, error)) {
	key, err := flux.JobKey(id, "eventlog")
	if err != nil {
		j.After(0, func() { done("", err) })
		return
	}
	j.Load(key, done)
}

// Executing implements hooks.Host by what the exec service counts.
func (j *jobtap) Executing(done func(map[uint64]bool, error)) {
	j.Call(flux.NodeAny, "job-exec.stats-get", "{}", execLimit, func(payload string, err error) {
		if errors.Is(err, syscall.ENOSYS) {
			done(nil, nil)
			return
		}
		ids := map[uint64]bool{}
		gjson.Get(payload, "jobs").ForEach(func(key, _ gjson.Result) bool {
			var id jobid.ID
			if id, err = jobid.Parse(key.Str); err == nil {
				ids[uint64(id)] = true
			}
			return err == nil
		})
		done(ids, err)
	})
}

func (j *jobtap) Load(key string, done func(string, error)) {
	j.turning(func() { j.lookup(key, done) })
}

// lookup reads a value of the KVS.
func (o *host) lookup(key string, done func(string, error)) {
	f, err := o.h.Lookup(key)
	o.await(f, err, kvsLimit, func(f *flux.Future, err error) {
		var value string
		if err == nil {
			value, err = f.Value()
		}
		if errors.Is(err, syscall.ENOENT) && strings.HasPrefix(key, ownKeys) {
			err = nil
		}
		done(value, err)
	})
}

// ownKeys are the plugin's, which may be missing.
const ownKeys = "burrow."

func (j *jobtap) Store(key, value string) {
	j.turning(func() {
		if err := j.store(key, value); err != nil {
			j.Log(flux.LogErr, "can't store %s: %v", key, err)
		}
	})
}

func (o *host) store(key, value string) error {
	txn, err := flux.NewTxn()
	if err != nil {
		return err
	}
	defer txn.Destroy()
	if err := txn.Put(key, value); err != nil {
		return err
	}
	f, err := o.h.Commit(txn)
	o.await(f, err, kvsLimit, func(f *flux.Future, err error) {
		if err == nil {
			err = f.Done()
		}
		if err != nil {
			o.Log(flux.LogErr, "can't store %s: %v", key, err)
		}
	})
	return nil
}

func (j *jobtap) Size() uint32 { return j.size }
