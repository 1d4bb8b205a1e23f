// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"slices"
	"sync"

	systemd1 "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// watched is what a link knows of one unit. The link's signals write it, State
// and the unit's order read it.
type watched struct {
	// name is the unit's name in the configuration, which may be an alias.
	name string

	mu    sync.Mutex
	names []string
	paths []dbus.ObjectPath
	// known says whether the three below are true now.
	known             bool
	load, active, sub string
	// seen counts what signals said about this unit.
	seen uint64
	// ended has the results of jobs of this unit by their id, from when its
	// order asks for a job until it has the result; else nil.
	ended map[uint32]string
	// skipped says that a condition of the unit did not hold in that time.
	// Once a unit is down systemd may forget this before it can be asked.
	skipped bool
	// news is closed, and replaced, when a job ends.
	news chan struct{}
}

func newWatched(name string) *watched {
	return &watched{name: name, news: make(chan struct{})}
}

// state tells what the unit is, and whether that is known. A running unit
// whose file was removed is running.
func (w *watched) state() (State, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		return Unknown, false
	}
	switch w.active {
	case "active", "reloading", "refreshing":
		return Up, true
	case "inactive", "failed":
		if w.load == "not-found" {
			return Absent, true
		}
		return Down, true
	}
	return Unknown, true // activating, deactivating, maintenance
}

// words tells the unit's state in systemd's words, as systemctl(1) has them.
func (w *watched) words() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		return "in an unknown state"
	}
	return w.active + " (" + w.sub + ")"
}

func (w *watched) masked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known && w.load == "masked"
}

func (w *watched) is(active, sub string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known && w.active == active && (sub == "" || w.sub == sub)
}

func (w *watched) addName(name string, path dbus.ObjectPath) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = append(w.names, name)
	w.paths = append(w.paths, path)
}

func (w *watched) dropName(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.names, name); i >= 0 {
		w.names = slices.Delete(w.names, i, i+1)
		w.paths = slices.Delete(w.paths, i, i+1)
	}
}

func (w *watched) follows(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.names, name)
}

func (w *watched) isAt(path dbus.ObjectPath) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.paths, path)
}

func (w *watched) version() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// learn takes the answer to a question that was asked at version before. It is
// refused, with false, where a signal has come since.
func (w *watched) learn(is systemd1.UnitStatus, before uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen != before {
		return false
	}
	w.load, w.active, w.sub = is.LoadState, is.ActiveState, is.SubState
	w.known = true
	return true
}

// changed takes a signal's news, and tells whether ActiveState is another.
// LoadState is never among them.
func (w *watched) changed(props map[string]dbus.Variant, invalid []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	was := w.active
	if v, ok := props["ActiveState"]; ok {
		w.active, _ = v.Value().(string)
		// A unit can't run without having been loaded, so an absent one that
		// does was brought here since.
		if w.load == "not-found" {
			w.known = false
		}
	}
	if v, ok := props["SubState"]; ok {
		w.sub, _ = v.Value().(string)
	}
	if conditionFailed(props["ConditionTimestamp"].Value(), props["ConditionResult"].Value()) {
		w.skipped = true
	}
	if slices.Contains(invalid, "ActiveState") {
		w.known = false
	}
	return w.active != was
}

// conditionFailed reads a unit's two properties. The result is false as well
// before the first look at the conditions, when the time is 0.
func conditionFailed(timestamp, result any) bool {
	at, _ := timestamp.(uint64)
	return at != 0 && result == false
}

func (w *watched) wasSkipped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.skipped
}

func (w *watched) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	w.known = false
}

// expect begins to keep the results of the unit's jobs. It comes before the
// request for a job: the result may be here before the job's id.
func (w *watched) expect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = map[uint32]string{}
	w.skipped = false
}

func (w *watched) expectNoMore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = nil
}

func (w *watched) jobEnded(id uint32, result string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		return
	}
	w.ended[id] = result
	close(w.news)
	w.news = make(chan struct{})
}

// result waits for the end of a job. It gives up with ctx, and with errLost
// when the link it would hear from is gone.
func (w *watched) result(ctx context.Context, id uint32, lost <-chan struct{}) (string, error) {
	for {
		w.mu.Lock()
		result, ok := w.ended[id]
		news := w.news
		w.mu.Unlock()
		if ok {
			return result, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return "", ctx.Err()
		case <-lost:
			return "", errLost
		}
	}
}
