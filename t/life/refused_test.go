// SPDX-License-Identifier: LGPL-3.0-or-later

package life

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// requests are what burrow answers to, and a payload that each takes.
var requests = map[string]string{
	"burrow.set":                   `{"ranks":"0-3","phase":"mount","id":99,"gen":1}`,
	"burrow.status":                `{"ranks":"0-3"}`,
	"burrow.stats-get":             ``,
	"burrow.config-reload":         `{"burrow":{"enable":false}}`,
	"job-manager.burrow.wanted":    `{"rank":0}`,
	"job-manager.burrow.running-R": `{"ids":[1]}`,
	"job-manager.burrow.release":   `{"ranks":"0-3"}`,
}

// What is not the instance owner's is refused with EPERM, what can't be read
// with EPROTO and a text. Neither changes anything.
func TestRefused(t *testing.T) {
	w := newWorld(setup{})
	before := stats(t, w)
	for topic, payload := range requests {
		if _, err := w.in.Guest(0, 1234).Call(0, topic, payload); !errors.Is(err, syscall.EPERM) {
			t.Errorf("%s of a guest: %v", topic, err)
		}
	}
	for topic := range requests {
		if topic == "burrow.stats-get" || topic == "burrow.config-reload" {
			continue // the one takes none, the other any
		}
		for _, payload := range []string{``, `{}`, `[]`, `{"ranks":7}`, `{"rank":-1}`, `{"ids":"x"}`} {
			_, err := w.in.RPC(0, 0, topic, payload)
			if !errors.Is(err, syscall.EPROTO) || err.Error() == "" {
				t.Errorf("%s %s: %v", topic, payload, err)
			}
		}
	}
	w.advance(time.Second)
	if up := w.upOn(); len(up) > 0 || stats(t, w) != before {
		t.Errorf("up on %v, counters %s, were %s", up, stats(t, w), before)
	}
	for topic, payload := range requests {
		if topic == "burrow.config-reload" {
			continue
		}
		if _, err := w.in.RPC(0, 0, topic, payload); err != nil {
			t.Errorf("%s %s: %v", topic, payload, err)
		}
	}
	w.check()
	if broken := w.close(); len(broken) > 0 {
		t.Errorf("%q", broken)
	}
}

// stats are the counters of all agents.
func stats(t *testing.T, w *world) string {
	t.Helper()
	var all []string
	for r := range w.Size {
		s, err := w.in.RPC(r, uint32(r), "burrow.stats-get", "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return fmt.Sprint(all)
}
