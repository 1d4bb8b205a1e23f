// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"fmt"
	"syscall"

	flux "flux-burrow/cgo"
	"flux-burrow/module/sched"
)

// configured reads the scheduler's configuration at load. The handle has it:
// the config module may be waiting for this one, and could not answer.
func (r *schedRole) configured(args []string) (sched.Config, error) {
	var err error
	if r.args, err = sched.ParseArgs(args); err != nil {
		return sched.Config{}, invalid(err)
	}
	conf, err := r.h.Config()
	if err != nil {
		return sched.Config{}, fmt.Errorf("configuration: %w", err)
	}
	return r.merged(conf)
}

func (r *schedRole) merged(conf string) (sched.Config, error) {
	table, err := sched.ParseTable([]byte(conf))
	if err != nil {
		return sched.Config{}, invalid(err)
	}
	return sched.Merge(table, r.args), nil
}

// reload answers config-reload: an error refuses the new configuration. Should
// another module refuse it afterwards then the config module sends the one
// before to all that took it, this one too.
func (r *schedRole) reload(req *flux.Request) {
	conf, err := req.Payload()
	if err == nil {
		err = r.reconfigure(conf)
	}
	if req.NoResponse() {
		return
	}
	if err != nil {
		err = req.RespondError(err)
	} else {
		err = req.Respond("")
	}
	if err != nil {
		r.h.Log(flux.LogErr, "%s: can't respond: %v", req.Topic(), err)
	}
}

func (r *schedRole) reconfigure(conf string) error {
	config, err := r.merged(conf)
	if err != nil {
		return err
	}
	if err := r.engine.Configure(config); err != nil {
		return invalid(err)
	}
	return nil
}

func invalid(err error) error { return &flux.Error{Num: syscall.EINVAL, Text: err.Error()} }
