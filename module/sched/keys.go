// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
)

// key is a key of the table [sched-burrow], and an argument of the same name.
type key struct {
	name  string
	queue bool // may be set for one queue too
	list  bool // as an argument it has its words with commas between
	// set takes a value as encoding/json gives it, numbers as json.Number. Its
	// error begins with the value, the name stands before that.
	set func(s *Settings, v any) error
}

// keys are all there are, by name.
var keys = []key{
	{name: "log-level", set: func(s *Settings, v any) error {
		return oneOf(&s.LogLevel, levelWord(v), Err, Warning, Info, Debug)
	}},
	{name: "match", set: func(s *Settings, v any) error {
		return oneOf(&s.Match, v, resource.First, resource.Last, resource.Best, resource.Worst)
	}},
	{name: "node-exclusive", queue: true, list: true, set: func(s *Settings, v any) (err error) {
		s.NodeExclusive, err = nodeExclusive(v)
		return err
	}},
	{name: "policy", queue: true, set: func(s *Settings, v any) error {
		return oneOf(&s.Policy, v, policy.FIFO, policy.Easy, policy.Conservative)
	}},
	{name: "queue-depth", set: func(s *Settings, v any) error {
		n, ok := number(v)
		if !(ok && n > 0) && v != "unlimited" {
			return fmt.Errorf("%s is neither a number in 1-%d nor unlimited", show(v), MaxDepth)
		}
		s.QueueDepth = &n // 0 for unlimited
		return nil
	}},
	{name: "reservation-depth", queue: true, set: func(s *Settings, v any) error {
		n, ok := number(v)
		if v == "all" {
			n, ok = policy.DepthAll, true
		}
		if !ok {
			return fmt.Errorf("%s is neither a number of 0 or more nor all", show(v))
		}
		s.Depth = &n
		return nil
	}},
	{name: "writer", set: func(s *Settings, v any) error {
		return oneOf(&s.Writer, v, RV1Exec, RV1)
	}},
}

// findKey returns the key of a name; nil if there is none.
func findKey(name string, queue bool) *key {
	for i := range keys {
		if k := &keys[i]; k.name == name && (k.queue || !queue) {
			return k
		}
	}
	return nil
}

// keyNames are those that there are, for an error.
func keyNames(queue bool) []string {
	var names []string
	for _, k := range keys {
		if k.queue || !queue {
			names = append(names, k.name)
		}
	}
	return names
}

// oneOf reads a word that stands for one of a few values.
func oneOf[T fmt.Stringer](to **T, v any, of ...T) error {
	words := make([]string, len(of))
	for i, value := range of {
		if words[i] = value.String(); v == words[i] {
			*to = &value
			return nil
		}
	}
	return fmt.Errorf("%s is none of %s", show(v), strings.Join(words, ", "))
}

// levelWord takes the other spellings of a level.
func levelWord(v any) any {
	word, ok := v.(string)
	if !ok {
		return v
	}
	if word = strings.ToLower(word); word == "error" {
		word = Err.String()
	}
	return word
}

// number reads a number of 0 or more.
func number(v any) (int, bool) {
	text, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text.String(), 10, 31)
	if err != nil {
		return 0, false
	}
	return int(n), true
}

func nodeExclusive(v any) (*NodeExclusive, error) {
	if all, ok := v.(bool); ok {
		return &NodeExclusive{All: all}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is none of true, false, a list of properties", show(v))
	}
	n := &NodeExclusive{}
	for _, entry := range list {
		name, ok := entry.(string)
		if !ok || name == "" || strings.ContainsAny(name, "!&'\"^`|()") {
			return nil, fmt.Errorf("%s is not the name of a property (RFC 20)", show(entry))
		}
		if !slices.Contains(n.Properties, name) {
			n.Properties = append(n.Properties, name)
		}
	}
	return n, nil
}

// show gives a value for an error.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if text := []rune(string(b)); len(text) > 40 {
		return string(text[:37]) + "..."
	}
	return string(b)
}

// faults are all that is wrong with a source: a person wants to hear of them at
// once.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return errors.New(strings.Join(f, "; "))
}
