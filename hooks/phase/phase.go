// SPDX-License-Identifier: LGPL-3.0-or-later

// Package phase names the windows of a job's life in which a node's services
// are up or down.
package phase

import (
	"fmt"
	"strings"
)

// Phase is a window of a job on its nodes.
type Phase uint8

const (
	// Idle: no job.
	Idle Phase = iota
	// Mount: from the run state of a rabbit job to its dws_environment event.
	Mount
	// Run: from dws_environment (rabbit job) or the run state (other job) to
	// the end of its tasks.
	Run
	// Unmount: from the end of its tasks to the end of dws-epilog.
	Unmount

	count
)

var names = [count]string{"idle", "mount", "run", "unmount"}

// Names lists the phases as they are written, in order.
func Names() []string { return names[:] }

func (p Phase) String() string {
	if p < count {
		return names[p]
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

// Parse reads a phase's name.
func Parse(name string) (Phase, error) {
	for p, n := range names {
		if n == name {
			return Phase(p), nil
		}
	}
	return Idle, fmt.Errorf("no such phase %q: one of %s", name, strings.Join(names[:], ", "))
}

// MarshalText writes the name.
func (p Phase) MarshalText() ([]byte, error) {
	if p >= count {
		return nil, fmt.Errorf("no such phase %d", uint8(p))
	}
	return []byte(names[p]), nil
}

// UnmarshalText reads the name.
func (p *Phase) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Set is a set of phases.
type Set uint8

// SetOf makes a set.
func SetOf(phases ...Phase) Set {
	var s Set
	for _, p := range phases {
		s |= 1 << p
	}
	return s
}

// Has tells whether p is in the set.
func (s Set) Has(p Phase) bool { return s&(1<<p) != 0 }
