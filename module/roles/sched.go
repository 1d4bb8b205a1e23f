// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"fmt"
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/module/sched"
)

// answerLimit bounds the wait for an answer of another module.
const answerLimit = 2 * time.Minute

// schedRole is the module sched-burrow, on the leader.
type schedRole struct {
	*host
	args     sched.Settings
	engine   *sched.Engine
	handlers []*flux.MsgHandler
}

// StartScheduler is the scheduler's Start. It goes by [sched-burrow] and by its
// arguments, which are those of sched.ParseArgs. Recovery goes on after it has returned, in the reactor.
func StartScheduler(h *flux.Handle, args []string) (stop func(), err error) {
	o, err := newHost(h)
	if err != nil {
		return nil, err
	}
	r := &schedRole{host: o}
	config, err := r.configured(args)
	if err == nil {
		err = r.start(config)
	}
	if err != nil {
		r.stop()
		return nil, err
	}
	return r.stop, nil
}

func (r *schedRole) start(config sched.Config) error {
	for _, name := range sched.Services {
		if err := r.register(name); err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
	}
	r.engine = sched.New(schedHost{r.host}, config)
	name := r.h.ModuleName()
	if name == "" {
		name = "sched-burrow"
	}
	m, err := r.h.HandleRequest(name+".config-reload", 0, r.reload)
	if err != nil {
		return err
	}
	r.handlers = append(r.handlers, m)
	for i := range sched.Handlers {
		s := &sched.Handlers[i]
		topic, roles := s.Topic, uint32(0)
		if s.Own {
			topic = name + "." + topic
		}
		if s.Guests {
			roles = flux.RoleUser
		}
		m, err := r.h.HandleRequest(topic, roles, func(req *flux.Request) { r.handle(s, req) })
		if err != nil {
			return err
		}
		r.handlers = append(r.handlers, m)
	}
	r.engine.Start()
	return nil
}

func (r *schedRole) register(name string) error {
	f, err := r.h.RegisterService(name)
	if err != nil {
		return err
	}
	defer f.Destroy()
	if err := f.Wait(startLimit); err != nil {
		return err
	}
	return f.Done()
}

func (r *schedRole) handle(s *sched.Handler, req *flux.Request) {
	payload, err := req.Payload()
	if err != nil {
		r.h.Log(flux.LogErr, "%s: %v", req.Topic(), err)
		if !req.NoResponse() {
			_ = req.RespondError(err)
		}
		return
	}
	r.engine.Handle(s, payload, schedRequest{req})
}

func (r *schedRole) stop() {
	for _, m := range r.handlers {
		m.Destroy()
	}
	if r.engine != nil {
		r.engine.Stop()
	}
	r.close()
}

// schedRequest is a flux.Request as the engine sees it.
type schedRequest struct{ *flux.Request }

func (q schedRequest) Keep() sched.Request { return schedRequest{q.Request.Keep()} }
