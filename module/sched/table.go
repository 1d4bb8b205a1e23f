// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tableName is the table of the configuration, whatever the module is called.
const tableName = "sched-burrow"

// queuesKey is the table in it that has one for each queue.
const queuesKey = "queues"

// ParseTable reads the whole configuration of an instance (JSON), of which it
// takes [sched-burrow], and the names of [queues]. It is strict: the error has
// all faults, each with the key's name.
func ParseTable(instance []byte) (Settings, error) {
	var whole map[string]json.RawMessage
	if len(instance) > 0 {
		if err := json.Unmarshal(instance, &whole); err != nil {
			return Settings{}, fmt.Errorf("the configuration is not a JSON object: %w", err)
		}
	}
	if whole[tableName] == nil {
		return Settings{}, nil
	}
	var s Settings
	var f faults
	t := f.table(tableName, decode(whole[tableName]))
	f.keys(&s, tableName, t, false)
	if value, ok := t[queuesKey]; ok {
		there, _ := decode(whole["queues"]).(map[string]any)
		s.Queues = f.queues(tableName+"."+queuesKey, value, there)
	}
	if err := f.err(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// queues reads the tables of queues. One for a queue that is not there is a
// mistake: nothing would come of it.
func (f *faults) queues(path string, value any, there map[string]any) map[string]QueueConfig {
	var out map[string]QueueConfig
	tables := f.table(path, value)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := path + "." + name
		if _, ok := there[name]; !ok {
			f.add("%s: there is no such queue: %s", at, queueNames(there))
			continue
		}
		var s Settings
		f.keys(&s, at, f.table(at, tables[name]), true)
		if out == nil {
			out = map[string]QueueConfig{}
		}
		out[name] = s.QueueConfig
	}
	return out
}

func queueNames(there map[string]any) string {
	if len(there) == 0 {
		return "[queues] names none"
	}
	return "[queues] names " + strings.Join(slices.Sorted(maps.Keys(there)), ", ")
}

// keys reads the keys of the table, or of the one of a queue.
func (f *faults) keys(s *Settings, path string, table map[string]any, ofQueue bool) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name == queuesKey && !ofQueue {
			continue
		}
		at := path + "." + name
		k := findKey(name, ofQueue)
		if k == nil {
			names := keyNames(ofQueue)
			if !ofQueue {
				names = append(names, queuesKey)
			}
			f.add("%s: unknown key: there are %s", at, strings.Join(names, ", "))
			continue
		}
		if err := k.set(s, table[name]); err != nil {
			f.add("%s: %s", at, err)
		}
	}
}

func (f *faults) table(path string, value any) map[string]any {
	t, ok := value.(map[string]any)
	if !ok {
		f.add("%s: %s is not a table", path, show(value))
	}
	return t
}

// decode reads valid JSON and leaves numbers as they stand.
func decode(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	return v
}
