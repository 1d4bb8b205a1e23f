// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// parseConfig makes JSON of a configuration in TOML or JSON.
func parseConfig(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "{}", nil
	}
	o := map[string]any{}
	if text[0] == '{' {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return "", err
		}
		return text, nil
	}
	if _, err := toml.Decode(text, &o); err != nil {
		return "", err
	}
	return marshal(o), nil
}

// Config gives the configuration of the leader as JSON.
func (in *Instance) Config() string { return in.brokers[0].config }

// ConfigOn gives the configuration that a rank's broker has: it follows the
// leader's a little later.
func (in *Instance) ConfigOn(rank int) string { return in.brokers[rank].config }

// ConfigReload replaces the configuration as `flux config reload` and `flux
// config load` do (modules/config/config.c): on the leader each module in turn,
// the job manager among them, gets NAME.config-reload. One that refuses ends
// it, and those before get the present configuration again. It returns when
// the leader has it. The other brokers follow along the tree, each the broker
// above it; there a refusal is logged and that broker keeps what it has.
func (in *Instance) ConfigReload(config string) error {
	conf, err := parseConfig(config)
	if err != nil {
		return err
	}
	ended := false
	in.configure(0, conf, func(e error) { ended, err = true, e })
	for !ended && in.step(-1) {
	}
	return err
}

// configure updates what runs on one broker, then those below it.
func (in *Instance) configure(rank int, conf string, done func(error)) {
	b := in.brokers[rank]
	if sameJSON(b.config, conf) {
		done(nil)
		return
	}
	b.changing++
	decided := done
	done = func(err error) {
		b.changing--
		b.answerGetters(in.lookup(rank, "config"))
		decided(err)
	}
	var names, updated []string
	for _, m := range b.modules {
		names = append(names, m.Name)
	}
	if rank == 0 && in.jm.up {
		names = append(names, "job-manager")
	}
	// The real one goes through a hash by a random uuid.
	if in.random() {
		in.rng.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	}
	updates := b.updates
	update := func(name, conf string, done func(error)) {
		in.Call(rank, uint32(rank), name+".config-reload", conf, func(r Response) {
			if b.updates != updates {
				return // the broker was lost meanwhile
			}
			if err := r.Err(); err != nil && r.Errno != syscall.ENOSYS {
				done(fmt.Errorf("error updating %s: %w", name, err))
				return
			}
			done(nil)
		})
	}
	var revert func(err error)
	revert = func(err error) {
		if len(updated) == 0 {
			done(err)
			return
		}
		name := updated[0]
		updated = updated[1:]
		update(name, b.config, func(error) { revert(err) })
	}
	var next func()
	next = func() {
		if len(names) == 0 {
			b.config = conf
			for _, c := range b.children {
				in.followConfig(c)
			}
			done(nil)
			return
		}
		name := names[0]
		names = names[1:]
		update(name, conf, func(err error) {
			if err != nil {
				revert(err)
				return
			}
			updated = append(updated, name)
			next()
		})
	}
	next()
}

// getConfig answers config.get. The config module waits for each module that it
// updates, so it answers when a change that is under way is decided.
func (b *broker) getConfig(r *Request) {
	if b.changing == 0 {
		r.Respond(b.config)
		return
	}
	r.Msg.incref()
	b.getters = append(b.getters, r.Msg)
}

func (b *broker) answerGetters(h *Handle) {
	if b.changing > 0 {
		return
	}
	list := b.getters
	b.getters = nil
	for _, m := range list {
		if h != nil {
			h.respond(m, b.config, true)
		}
		m.decref()
	}
}

// followConfig has a broker take what the one above it has, now that this
// changed. It makes one update at a time.
func (in *Instance) followConfig(rank int) {
	b := in.brokers[rank]
	updates := b.updates
	take := func() {
		if !b.up || b.dead != nil || b.updates != updates {
			return
		}
		if b.updating {
			b.again = true
			return
		}
		b.updating = true
		in.configure(rank, in.brokers[b.parent].config, func(err error) {
			b.updating = false
			if err != nil {
				in.log(rank, "config", 3, "parent update: "+err.Error())
			}
			if b.again {
				b.again = false
				in.followConfig(rank)
			}
		})
	}
	if in.opts.Latency > 0 {
		in.after(b.self, in.opts.Latency, take)
		return
	}
	in.post(in.brokers[b.parent].self.id, b.self.id, task{owner: b.self, fn: take})
}

// joined: a broker that comes up has the configuration of the one above it
// before its modules are loaded.
func (b *broker) joined(config string) {
	b.updates++
	b.changing = 0
	b.answerGetters(nil)
	b.config, b.updating, b.again = config, false, false
}

func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
