// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// onAcquire takes the responses to resource.acquire (RFC 28): the inventory
// first, then what changes of it.
func (e *Engine) onAcquire(payload string, err error) {
	if e.phase == Stopped {
		return
	}
	switch {
	case err != nil && e.pool == nil:
		e.fail("resource.acquire", err)
		return
	case err != nil:
		// RFC 28: log it and end. It is how the resource module says that it
		// is unloaded.
		e.log(Err, "stopping: resource.acquire: %s", err)
		e.Stop()
		e.host.Stop(nil)
		return
	}
	v := gjson.Parse(payload)
	if e.pool == nil {
		if err := e.onInventory(v); err != nil {
			e.fail("resource.acquire", err)
			return
		}
		e.answerEarly()
		e.readReservations()
		e.startHello()
		return
	}
	change := func() {
		if e.phase == Stopped {
			return
		}
		e.onChange(v)
		e.resolveReservations()
		e.loosen()
	}
	if !e.later(change) {
		change()
	}
}

func (e *Engine) onInventory(v gjson.Result) error {
	raw := v.Get("resources")
	if !raw.IsObject() {
		return errors.New("the first response has no resources")
	}
	r, err := rv1reader.Read([]byte(raw.Raw))
	if err != nil {
		return fmt.Errorf("resources: %w", err)
	}
	inv := rv1reader.NewInventory(r)
	if e.scribe, err = newScribe(e.config.Writer, inv); err != nil {
		return err
	}
	e.pool = resource.New(inv)
	e.plan = policy.NewPlan(e.pool)
	e.expiration = r.Expiration
	e.onChange(v)
	c := r.Set.Count()
	e.log(Debug, "acquired %d nodes, %d cores, %d gpus", c.Nodes, c.Cores, c.GPUs)
	return nil
}

// changes are the keys of an acquire response, in the order in which they are
// applied: shrink goes last as it takes precedence.
var changes = []struct {
	key   string
	apply func(e *Engine, v gjson.Result) error
}{
	{"up", func(e *Engine, v gjson.Result) error {
		return withRanks(v, func(ranks *idset.Set) { e.pool.SetUp(ranks, true) })
	}},
	{"down", func(e *Engine, v gjson.Result) error {
		return withRanks(v, func(ranks *idset.Set) { e.pool.SetUp(ranks, false) })
	}},
	{"property-add", func(e *Engine, v gjson.Result) error {
		return withProperties(v, e.pool.AddProperty)
	}},
	{"property-remove", func(e *Engine, v gjson.Result) error {
		return withProperties(v, e.pool.RemoveProperty)
	}},
	{"expiration", func(e *Engine, v gjson.Result) error {
		if v.Type != gjson.Number || v.Num < 0 {
			return fmt.Errorf("%s is not a time", v.Raw)
		}
		e.expiration = v.Num
		return nil
	}},
	{"shrink", func(e *Engine, v gjson.Result) error {
		return withRanks(v, e.pool.Shrink)
	}},
}

func (e *Engine) onChange(v gjson.Result) {
	for _, c := range changes {
		// A key may hold a dot; these do not.
		value := v.Get(c.key)
		if !value.Exists() {
			continue
		}
		if err := c.apply(e, value); err != nil {
			e.log(Err, "resource.acquire: %s: %s", c.key, err)
			continue
		}
		e.stats.change(c.key)
		if e.phase == Ready {
			e.log(Debug, "resource.acquire: %s %s", c.key, value.Raw)
		}
	}
}

func withRanks(v gjson.Result, f func(*idset.Set)) error {
	if v.Type != gjson.String {
		return fmt.Errorf("%s is not an idset", v.Raw)
	}
	ranks, err := idset.Parse(v.Str)
	if err != nil {
		return err
	}
	f(ranks)
	return nil
}

func withProperties(v gjson.Result, f func(string, *idset.Set)) error {
	if !v.IsObject() {
		return fmt.Errorf("%s is not an object", v.Raw)
	}
	var fault error
	v.ForEach(func(name, value gjson.Result) bool {
		fault = withRanks(value, func(ranks *idset.Set) { f(name.Str, ranks) })
		return fault == nil
	})
	return fault
}
