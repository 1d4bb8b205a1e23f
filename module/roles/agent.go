// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"fmt"
	"reflect"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	flux "flux-burrow/cgo"
	"flux-burrow/hooks/config"
	"flux-burrow/hooks/control"
	"flux-burrow/module/agent"
)

// startLimit bounds each wait of a module's load.
const startLimit = 10 * time.Second

// agentRole is the module burrow of one rank.
type agentRole struct {
	*host
	poster   *flux.Poster
	handlers []*flux.MsgHandler
	cfg      *config.Config
	agent    *agent.Agent
	pending  requests
	idler    idler
}

// StartAgent is the agent's Start. It takes no arguments.
func StartAgent(h *flux.Handle, args []string) (stop func(), err error) {
	if len(args) > 0 {
		return nil, &flux.Error{Num: syscall.EINVAL, Text: fmt.Sprintf("%s: unknown argument: it takes none", args[0])}
	}
	o, err := newHost(h)
	if err != nil {
		return nil, err
	}
	r := &agentRole{host: o, pending: newRequests(h), idler: idler{host: o}}
	if err := r.start(); err != nil {
		r.stop()
		return nil, err
	}
	return r.stop, nil
}

func (r *agentRole) start() error {
	conf, err := r.h.Config()
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if r.cfg, err = config.Parse([]byte(conf)); err != nil {
		return &flux.Error{Num: syscall.EINVAL, Text: err.Error()}
	}
	topology, err := r.wait("overlay.topology", fmt.Sprintf(`{"rank":%d}`, r.rank), startLimit)
	if err != nil {
		return fmt.Errorf("overlay.topology: %w", err)
	}
	tree, err := agent.ParseTree(topology)
	if err != nil {
		return err
	}
	if r.poster, err = r.h.NewPoster(); err != nil {
		return err
	}
	name := r.h.ModuleName()
	if name == "" {
		name = "burrow"
	}
	r.agent = agent.New(r.host, name, tree, r.cfg, r.controller(r.cfg))
	for method, fn := range map[string]func(*flux.Request){
		"set":           r.answer(func(p string, reply func(string, error)) { r.agent.Set(p, reply) }),
		"status":        r.answer(func(p string, reply func(string, error)) { r.agent.Status(p, reply) }),
		"stats-get":     r.answer(func(_ string, reply func(string, error)) { reply(r.agent.Stats(), nil) }),
		"config-reload": r.answer(r.reload),
	} {
		m, err := r.h.HandleRequest(name+"."+method, 0, fn)
		if err != nil {
			return err
		}
		r.handlers = append(r.handlers, m)
	}
	if len(tree.Children) > 0 {
		r.stream("overlay.monitor", "{}", func(payload string, err error) { r.child(tree, payload, err) })
	}
	r.idler.worked()
	return nil
}

// child hears of the state of a child in the overlay.
func (r *agentRole) child(tree *agent.Tree, payload string, err error) {
	if err != nil {
		// What is lost with it is only time, until a lost child's requests time out.
		r.Log(flux.LogWarning, "overlay.monitor: %v", err)
		return
	}
	status := gjson.GetMany(payload, "rank", "status")
	if status[1].Str != "lost" && status[1].Str != "offline" {
		return
	}
	for _, c := range tree.Children {
		if uint64(c.Rank) == status[0].Uint() {
			r.lost(c.Ranks)
		}
	}
}

// controller makes what the configuration says services are controlled with.
func (r *agentRole) controller(cfg *config.Config) control.Controller {
	if cfg.Control.Method == config.Command {
		return control.NewCommand(&runner{host: r.host}, map[control.Verb][]string{
			control.Start:  cfg.Control.Start,
			control.Stop:   cfg.Control.Stop,
			control.Status: cfg.Control.Status,
		})
	}
	return control.NewSystemd(r.poster.Post, control.SystemdConfig{Changed: func(string) {
		if r.agent != nil {
			r.agent.Notice()
		}
	}})
}

// answer makes a message handler of a function that replies once, now or
// later.
func (r *agentRole) answer(fn func(payload string, reply func(string, error))) func(*flux.Request) {
	return func(req *flux.Request) {
		r.idler.worked()
		r.pending.answer(req, fn)
	}
}

// reload answers config-reload: an error refuses the new configuration.
func (r *agentRole) reload(payload string, reply func(string, error)) {
	cfg, err := config.Parse([]byte(payload))
	if err != nil {
		reply("", &flux.Error{Num: syscall.EINVAL, Text: err.Error()})
		return
	}
	var ctl control.Controller
	if !reflect.DeepEqual(cfg.Control, r.cfg.Control) {
		ctl = r.controller(cfg)
	}
	r.cfg = cfg
	r.agent.Reconfigure(cfg, ctl)
	reply("", nil)
}

func (r *agentRole) stop() {
	for _, m := range r.handlers {
		m.Destroy()
	}
	if r.agent != nil {
		r.agent.Close()
	}
	r.pending.end(&flux.Error{Num: syscall.ENOSYS, Text: "burrow agent is being unloaded"})
	if r.poster != nil {
		r.poster.Destroy()
	}
	r.close()
}
