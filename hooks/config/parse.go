// SPDX-License-Identifier: LGPL-3.0-or-later

package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"

	"flux-burrow/hooks/phase"
)

// Parse reads the whole configuration object of an instance (JSON), of which
// it takes [burrow] and rabbit.prolog_timeout. All faults are reported
// together.
func Parse(instance []byte) (*Config, error) {
	c := Default()
	var whole struct {
		Burrow json.RawMessage `json:"burrow"`
		Rabbit json.RawMessage `json:"rabbit"`
	}
	if len(instance) > 0 {
		if err := json.Unmarshal(instance, &whole); err != nil {
			return nil, fmt.Errorf("configuration is not a JSON object: %w", err)
		}
	}
	if err := rabbitTimeout(c, whole.Rabbit); err != nil {
		return nil, err
	}
	if whole.Burrow == nil {
		return c, nil
	}
	p := parser{}
	p.table("burrow", whole.Burrow, fields{
		"enable":              func(k string, v json.RawMessage) { get(&p, k, v, "true or false", &c.Enable) },
		"environment-timeout": func(k string, v json.RawMessage) { c.EnvironmentTimeout = p.fsd(k, v, true) },
		"service-timeout":     func(k string, v json.RawMessage) { c.ServiceTimeout = p.fsd(k, v, false) },
		"on-failure": func(k string, v json.RawMessage) {
			c.OnFailure = OnFailure(p.oneOf(k, v, string(Drain), string(Raise), string(Ignore)))
		},
		"tolerate": func(k string, v json.RawMessage) {
			if get(&p, k, v, "a number of nodes", &c.Tolerate) && c.Tolerate < 0 {
				p.fault(k, "is %d: 0 or more nodes", c.Tolerate)
			}
		},
		"services": func(k string, v json.RawMessage) { c.Services = p.services(k, v) },
		"control":  func(k string, v json.RawMessage) { c.Control = p.control(k, v) },
	})
	if err := p.faults.ErrorOrNil(); err != nil {
		return nil, err
	}
	return c, nil
}

// rabbitTimeout takes the limit that sites have set for today's prolog
// script; [burrow] overrides it. It is a number of seconds or an FSD.
func rabbitTimeout(c *Config, table json.RawMessage) error {
	var rabbit map[string]json.RawMessage
	if table == nil || json.Unmarshal(table, &rabbit) != nil || rabbit["prolog_timeout"] == nil {
		return nil
	}
	p := parser{}
	var s float64
	if json.Unmarshal(rabbit["prolog_timeout"], &s) == nil {
		if s < 0 || s > math.MaxInt32 {
			return fmt.Errorf("rabbit.prolog_timeout is %v: 0 or more seconds", s)
		}
		c.EnvironmentTimeout = time.Duration(s * float64(time.Second))
		return nil
	}
	c.EnvironmentTimeout = p.fsd("rabbit.prolog_timeout", rabbit["prolog_timeout"], true)
	return p.faults.ErrorOrNil()
}

type fields map[string]func(key string, value json.RawMessage)

type parser struct {
	faults *multierror.Error
}

func (p *parser) fault(key, format string, args ...any) {
	p.faults = multierror.Append(p.faults, fmt.Errorf("%s %s", key, fmt.Sprintf(format, args...)))
	p.faults.ErrorFormat = oneLine
}

func oneLine(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// table hands each key of a table to its reader, in the order of their names.
func (p *parser) table(key string, value json.RawMessage, known fields) map[string]json.RawMessage {
	var table map[string]json.RawMessage
	if !get(p, key, value, "a table", &table) {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(table)) {
		path := key + "." + k
		if read := known[k]; read != nil {
			read(path, table[k])
			continue
		}
		p.fault(path, "is an unknown key: one of %s",
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return table
}

func get[T any](p *parser, key string, value json.RawMessage, want string, to *T) bool {
	if string(value) == "null" || json.Unmarshal(value, to) != nil {
		p.fault(key, "is %s: it takes %s", short(value), want)
		return false
	}
	return true
}

func short(value json.RawMessage) string {
	if len(value) > 40 {
		return string(value[:37]) + "..."
	}
	return string(value)
}

func (p *parser) oneOf(key string, value json.RawMessage, words ...string) string {
	var word string
	want := "one of " + strings.Join(words, ", ")
	if get(p, key, value, want, &word) && !slices.Contains(words, word) {
		p.fault(key, "is %q: it takes %s", word, want)
	}
	return word
}

func (p *parser) fsd(key string, value json.RawMessage, zero bool) time.Duration {
	var s string
	if !get(p, key, value, `a duration such as "60s"`, &s) {
		return 0
	}
	d, err := ParseFSD(s)
	if err != nil {
		p.fault(key, "is %q: %v", s, err)
	} else if d == 0 && !zero {
		p.fault(key, "is %q: it takes a duration above 0", s)
	}
	return d
}

func (p *parser) services(key string, value json.RawMessage) []Service {
	var list []json.RawMessage
	if !get(p, key, value, "a list of tables with unit and up", &list) {
		return nil
	}
	seen := map[string]bool{}
	services := make([]Service, 0, len(list))
	for i, entry := range list {
		path := fmt.Sprintf("%s[%d]", key, i)
		var s Service
		table := p.table(path, entry, fields{
			"unit": func(k string, v json.RawMessage) {
				if get(p, k, v, "a unit's name", &s.Unit) {
					p.unit(k, s.Unit)
				}
			},
			"up": func(k string, v json.RawMessage) { s.Up = p.phases(k, v) },
		})
		for _, k := range []string{"unit", "up"} {
			if table != nil && table[k] == nil {
				p.fault(path+"."+k, "is missing")
			}
		}
		if s.Unit != "" && seen[s.Unit] {
			p.fault(path+".unit", "is %q, which is there already", s.Unit)
		}
		seen[s.Unit] = true
		services = append(services, s)
	}
	return services
}

// unit refuses what is no unit name (systemd.unit(5)), and what a command
// line could take for an option.
func (p *parser) unit(key, name string) {
	const extra = ":-_.\\@"
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(extra, r))
	}
	switch {
	case name == "" || len(name) > 255:
		p.fault(key, "is %q: it takes a name of 1 to 255 characters", name)
	case strings.IndexFunc(name, bad) >= 0:
		p.fault(key, "is %q: a unit's name has letters, digits and %s only", name, extra)
	case name[0] == '-':
		p.fault(key, "is %q: it may not begin with '-'", name)
	}
}

func (p *parser) phases(key string, value json.RawMessage) phase.Set {
	var words []string
	want := "a list of " + strings.Join(phase.Names(), ", ")
	if !get(p, key, value, want, &words) {
		return 0
	}
	var set phase.Set
	for i, word := range words {
		ph, err := phase.Parse(word)
		if err != nil {
			p.fault(fmt.Sprintf("%s[%d]", key, i), "is %q: it takes %s", word, want)
		}
		set |= phase.SetOf(ph)
	}
	return set
}

func (p *parser) control(key string, value json.RawMessage) Control {
	c := Control{Method: Systemd}
	argv := func(to *[]string) func(string, json.RawMessage) {
		return func(k string, v json.RawMessage) {
			if get(p, k, v, "a list of words, the program first", to) && (len(*to) == 0 || (*to)[0] == "") {
				p.fault(k, "is empty: it takes a program and its arguments")
			}
		}
	}
	table := p.table(key, value, fields{
		"method": func(k string, v json.RawMessage) {
			c.Method = Method(p.oneOf(k, v, string(Systemd), string(Command)))
		},
		"start":  argv(&c.Start),
		"stop":   argv(&c.Stop),
		"status": argv(&c.Status),
	})
	if table == nil {
		return c
	}
	for _, verb := range []string{"start", "stop", "status"} {
		given := table[verb] != nil
		if c.Method == Command && !given && verb != "status" {
			p.fault(key+"."+verb, `is missing: method "command" needs it`)
		}
		if c.Method == Systemd && given {
			p.fault(key+"."+verb, `is for method "command" only`)
		}
	}
	return c
}
