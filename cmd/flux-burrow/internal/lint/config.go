// SPDX-License-Identifier: LGPL-3.0-or-later

package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/phase"
)

// TOML checks a configuration file.
func TOML(name string, data []byte) Report {
	var table map[string]any
	if _, err := toml.Decode(string(data), &table); err != nil {
		rep := &report{Report: Report{Name: name, Faults: 1}}
		var p toml.ParseError
		if errors.As(err, &p) {
			rep.add("%s:%d:%d: error: %s", name, p.Position.Line, p.Position.Col, p.Message)
		} else {
			rep.add("%s: error: %v", name, err)
		}
		return rep.done()
	}
	if table == nil {
		table = map[string]any{}
	}
	text, err := json.Marshal(table)
	if err != nil {
		// TOML has infinities, and JSON has not.
		rep := &report{Report: Report{Name: name, Faults: 1}}
		rep.add("%s: error: %v", name, err)
		return rep.done()
	}
	return Config(name, text)
}

// Config checks an instance's configuration in JSON.
func Config(name string, data []byte) Report {
	rep := &report{Report: Report{Name: name}}
	cfg, err := config.Parse(data)
	if err != nil {
		faults := unfold(err)
		rep.Faults = len(faults)
		for _, f := range faults {
			rep.add("%s: error: %v", name, f)
		}
		return rep.done()
	}
	var whole struct {
		Burrow json.RawMessage `json:"burrow"`
	}
	// Parse has read it.
	_ = json.Unmarshal(data, &whole)
	note := ""
	if whole.Burrow == nil {
		note = "no [burrow] table, so the defaults: "
	}
	rep.add("%s: ok: %s%s", name, note, describe(cfg))
	return rep.done()
}

// describe sums a configuration up.
func describe(c *config.Config) string {
	if !c.Enable {
		return "disabled"
	}
	limit := "no limit on the wait for dws_environment"
	if c.EnvironmentTimeout > 0 {
		limit = fmt.Sprintf("environment-timeout %v", short(c.EnvironmentTimeout))
	}
	words := []string{
		fmt.Sprintf("method %s", c.Control.Method),
		fmt.Sprintf("on-failure %s", c.OnFailure),
		fmt.Sprintf("tolerate %d", c.Tolerate),
		fmt.Sprintf("service-timeout %v", short(c.ServiceTimeout)),
		limit,
	}
	for _, s := range c.Services {
		up := []string{}
		for i, name := range phase.Names() {
			if s.Up.Has(phase.Phase(i)) {
				up = append(up, name)
			}
		}
		when := "never"
		if len(up) > 0 {
			when = "in " + strings.Join(up, ", ")
		}
		words = append(words, fmt.Sprintf("%s up %s", s.Unit, when))
	}
	return strings.Join(words, "; ")
}

// short writes 1m0s as 1m.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
