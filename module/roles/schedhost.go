// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	"time"

	flux "flux-burrow/cgo"
	"flux-burrow/module/sched"
)

// schedHost implements sched.Host.
type schedHost struct{ *host }

func (s schedHost) Now() float64 { return s.h.Now() }

func (s schedHost) Log(level sched.Level, text string) { s.h.Log(int(level), "%s", text) }

func (s schedHost) Call(topic, payload string, done func(string, error)) {
	s.host.Call(flux.NodeAny, topic, payload, answerLimit, done)
}

func (s schedHost) Stream(topic, payload string, each func(string, error)) {
	s.host.stream(topic, payload, each)
}

func (s schedHost) Lookup(key string, done func(string, error)) {
	f, err := s.h.Lookup(key)
	s.await(f, err, answerLimit, func(f *flux.Future, err error) {
		var value string
		if err == nil {
			value, err = f.Value()
		}
		done(value, err)
	})
}

func (s schedHost) Commit(entries []sched.Entry, done func(error)) {
	f, err := s.commit(entries)
	s.await(f, err, answerLimit, func(f *flux.Future, err error) {
		if err == nil {
			err = f.Done()
		}
		done(err)
	})
}

func (s schedHost) commit(entries []sched.Entry) (*flux.Future, error) {
	txn, err := flux.NewTxn()
	if err != nil {
		return nil, err
	}
	defer txn.Destroy()
	for _, e := range entries {
		if err := txn.Put(e.Key, e.Value); err != nil {
			return nil, err
		}
	}
	return s.h.Commit(txn)
}

func (s schedHost) After(d time.Duration, f func()) sched.Timer {
	return schedTimer(s.host.After(d, f))
}

// schedTimer is what host.After gives to stop a timer with.
type schedTimer func()

func (t schedTimer) Stop() { t() }

// Stop ends the module. It is no failure of the module whatever the reason,
// which was logged: one that fails while it runs takes the broker with it.
func (s schedHost) Stop(error) { s.h.Stop() }
