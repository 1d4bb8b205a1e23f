// SPDX-License-Identifier: LGPL-3.0-or-later

// Package config reads burrow's part of an instance's configuration, the
// table [burrow], strictly: an unknown key, a wrong type or a bad value is an
// error that names the key. See flux-config-burrow(5).
package config

import (
	"time"

	"flux-burrow/hooks/phase"
)

// OnFailure says what follows when a node's services can't be brought to what
// a phase asks for.
type OnFailure string

const (
	// Drain drains the node with the reason; more failures than Tolerate
	// raise an exception on the job as well.
	Drain OnFailure = "drain"
	// Raise raises an exception on the job where more than Tolerate nodes
	// failed, and drains none.
	Raise OnFailure = "raise"
	// Ignore only logs.
	Ignore OnFailure = "ignore"
)

// Method is the way a node's services are brought up and down.
type Method string

const (
	// Systemd speaks D-Bus to the system's service manager.
	Systemd Method = "systemd"
	// Command runs a process for each change.
	Command Method = "command"
)

// Service is a unit, and the phases in which it is up.
type Service struct {
	Unit string
	Up   phase.Set
}

// Control is how services are brought up and down. Start, Stop and Status are
// argument vectors for method "command"; Status may be empty.
type Control struct {
	Method Method
	Start  []string
	Stop   []string
	Status []string
}

// Config is burrow's configuration.
type Config struct {
	// Enable false: the hooks take no holds and services stay as they are.
	Enable bool
	// EnvironmentTimeout limits the wait for dws_environment; 0: no limit.
	EnvironmentTimeout time.Duration
	// ServiceTimeout limits one change on one node; above 0.
	ServiceTimeout time.Duration
	OnFailure      OnFailure
	// Tolerate is how many nodes may fail before the job gets an exception.
	Tolerate int
	// Services in the order in which they are brought up, and down.
	Services []Service
	Control  Control
}

// Default is the configuration where there is no [burrow] table.
func Default() *Config {
	return &Config{
		Enable:         true,
		ServiceTimeout: time.Minute,
		OnFailure:      Drain,
		Services: []Service{{
			Unit: "nnf-clientmount.service",
			Up:   phase.SetOf(phase.Mount, phase.Unmount),
		}},
		Control: Control{Method: Systemd},
	}
}

// RunIsIdle tells whether every service is in run as it is in idle. Then a
// job without a rabbit, on an idle node, asks for nothing.
func (c *Config) RunIsIdle() bool {
	for _, s := range c.Services {
		if s.Up.Has(phase.Run) != s.Up.Has(phase.Idle) {
			return false
		}
	}
	return true
}
