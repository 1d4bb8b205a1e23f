// SPDX-License-Identifier: LGPL-3.0-or-later

// Package roles joins burrow's logic, which knows no C, to Flux: one file for
// each of the three roles of burrow.so, and hosts that implement what the
// logic asks of its surroundings.
package roles
