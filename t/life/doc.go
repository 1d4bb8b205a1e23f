// SPDX-License-Identifier: LGPL-3.0-or-later

// Package life has the tests of whole lives: jobs, faults and restarts on the
// embedded instance (t/embed), with the real hooks and agents, and the
// guarantees of the design checked at every moment that matters.
//
// A [world] is an instance with the plugin, an agent on each rank, dws, and
// services that are virtual processes whose behaviour a test sets. A witness
// in it sees what no part of burrow tells it: when a service's process began
// and ended, when tasks ran, which events were posted. From these alone it
// judges.
//
// A [history] is a world's configuration and a list of actions, made from a
// seed; the long random test runs thousands, and shortens one that fails.
package life
