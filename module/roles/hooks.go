// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"encoding/json"
	"fmt"
	"reflect"
	"syscall"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks"
	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
)

// pluginName is that of the jobtap plugin, and so of its services.
const pluginName = "burrow"

// hooksRole is the jobtap plugin.
type hooksRole struct {
	*jobtap
	hooks   *hooks.Hooks
	pending requests
	// configured counts new configurations.
	configured int
}

// Hooks sets the jobtap plugin up. It lives until the plugin is removed.
func Hooks(p *flux.Plugin) error {
	if err := p.SetName(pluginName); err != nil {
		return err
	}
	o, err := newHost(p.Handle())
	if err != nil {
		return err
	}
	r := &hooksRole{jobtap: newJobtap(o, p), pending: newRequests(o.h)}
	// First, so that a load that fails later leaves nothing behind.
	if err := p.OnDestroy("burrow", r.close); err != nil {
		o.close()
		return err
	}
	if err := o.holdTimers(); err != nil {
		return err
	}
	// What an earlier load left is read from the jobs' eventlogs.
	disinherit(o.h)
	for topic, fn := range map[string]func(string){
		"job.new":           func(a string) { r.hooks.New(a) },
		"job.state.run":     func(a string) { r.hooks.Run(a) },
		"job.state.cleanup": func(a string) { r.hooks.Cleanup(a) },
		"job.inactive-add":  func(a string) { r.hooks.Inactive(a) },
		"job.event.*":       func(a string) { r.hooks.JobEvent(a) },
	} {
		if err := p.AddHandler(topic, r.callback(fn)); err != nil {
			return err
		}
	}
	if err := p.AddHandler("conf.update", r.configure); err != nil {
		return err
	}
	if err := p.AddHandler("plugin.query", r.query); err != nil {
		return err
	}
	for method, fn := range map[string]func(string, func(string, error)){
		"wanted":    r.wanted,
		"running-R": r.enabled(r.running),
		"release":   r.enabled(r.release),
	} {
		if err := p.Service(method, 0, r.service(fn)); err != nil {
			return err
		}
	}
	return nil
}

// callback makes a jobtap callback. It never fails: an error would keep the
// plugins after this one from their call.
func (r *hooksRole) callback(fn func(args string)) func(string, *flux.Args) error {
	return func(topic string, args *flux.Args) error {
		text, err := args.JSON()
		if err != nil {
			r.h.Log(flux.LogErr, "%s: %v", topic, err)
			return nil
		}
		if r.hooks != nil {
			fn(text)
		}
		return nil
	}
}

// configure takes conf.update, at load before all else and on each reload.
func (r *hooksRole) configure(_ string, args *flux.Args) error {
	text, err := args.JSON()
	if err != nil {
		return err
	}
	cfg, err := config.Parse([]byte(gjson.Get(text, "conf").Raw))
	if err != nil {
		reply, _ := json.Marshal(map[string]string{"errmsg": err.Error()})
		_ = args.Reply(string(reply))
		return err
	}
	r.limit = cfg.ServiceTimeout
	if r.hooks == nil {
		if err := r.start(); err != nil {
			return err
		}
		r.hooks = hooks.New(r.jobtap, cfg)
		return nil
	}
	r.hooks.Reconfigure(cfg)
	r.confirm(cfg)
	return nil
}

// confirm asks whether a new configuration has come to stay. A part of the job
// manager that gets it later may refuse it, or another plugin, which nobody
// tells. The config service answers when that is decided.
func (r *hooksRole) confirm(cfg *config.Config) {
	r.configured++
	n := r.configured
	r.Call(flux.NodeAny, "config.get", "{}", r.limit, func(payload string, err error) {
		if n != r.configured {
			return // there is a newer one
		}
		var now *config.Config
		if err == nil {
			now, err = config.Parse([]byte(payload))
		}
		switch {
		case err != nil:
			r.Log(flux.LogErr, "config.get: %v: can't tell whether the new configuration holds", err)
		case !reflect.DeepEqual(now, cfg):
			r.Log(flux.LogWarning, "the new configuration was refused by another part of Flux: the one before is back")
			r.limit = now.ServiceTimeout
			r.hooks.Reconfigure(now)
		}
	})
}

// query answers flux jobtap query.
func (r *hooksRole) query(_ string, args *flux.Args) error {
	if r.hooks == nil {
		return nil
	}
	return args.Reply(r.hooks.Query())
}

// service makes a message handler of a function that replies once.
func (r *hooksRole) service(fn func(string, func(string, error))) func(*flux.Request) {
	return func(req *flux.Request) {
		r.pending.answer(req, func(payload string, reply func(string, error)) {
			if r.hooks == nil {
				reply("", errNotEnabled)
				return
			}
			fn(payload, reply)
		})
	}
}

var errNotEnabled = &flux.Error{Num: syscall.ENOSYS, Text: "burrow is not enabled"}

// enabled has a function called only where the configuration has the hooks on.
func (r *hooksRole) enabled(fn func(string, func(string, error))) func(string, func(string, error)) {
	return func(payload string, reply func(string, error)) {
		if !r.hooks.Enabled() {
			reply("", errNotEnabled)
			return
		}
		fn(payload, reply)
	}
}

func (r *hooksRole) wanted(payload string, reply func(string, error)) {
	var req wire.WantedRequest
	if err := wire.Decode(payload, &req, "rank"); err != nil {
		reply("", err)
		return
	}
	if req.Rank >= r.size {
		reply("", &flux.Error{Num: syscall.EPROTO, Text: fmt.Sprintf("rank %d: there are %d brokers", req.Rank, r.size)})
		return
	}
	r.hooks.Wanted(req.Rank, func(answer wire.WantedResponse, ok bool) {
		if !ok {
			reply("", errNotEnabled)
			return
		}
		reply(wire.Encode(answer), nil)
	})
}

func (r *hooksRole) release(payload string, reply func(string, error)) {
	var req wire.ReleaseRequest
	if err := wire.Decode(payload, &req, "ranks"); err != nil {
		reply("", err)
		return
	}
	r.hooks.Release(req.Ranks, func(answer wire.ReleaseResponse) { reply(wire.Encode(answer), nil) })
}

// running answers job-manager.burrow.running-R out of the job manager's
// memory. A job without R, or without an entry there, is left out.
func (r *hooksRole) running(payload string, reply func(string, error)) {
	var req wire.RunningRequest
	if err := wire.Decode(payload, &req, "ids"); err != nil {
		reply("", err)
		return
	}
	out := []byte(`{"R":{`)
	for _, id := range req.IDs {
		args, err := r.p.JobLookup(id)
		if err != nil {
			continue
		}
		if raw := gjson.Get(args, "R").Raw; raw != "" {
			out = wire.AppendMember(out, id, raw)
		}
	}
	reply(string(append(out, "}}"...)), nil)
}

func (r *hooksRole) close() {
	if r.hooks != nil {
		r.hooks.Close()
	}
	r.pending.end(&flux.Error{Num: syscall.EAGAIN, Text: "burrow plugin is being unloaded"})
	r.host.close()
}
