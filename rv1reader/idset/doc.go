// SPDX-License-Identifier: LGPL-3.0-or-later

// Package idset holds sets of non-negative integers in the form that Flux
// writes them in (RFC 22): `0-3,7`.
//
// A Set keeps sorted runs, so its size in memory follows the length of its
// written form and not the number of its members: `0-99999` is one run.
// Ids lie between 0 and MaxID.
//
// The zero Set is empty and ready to use. A nil *Set may be read (it is an
// empty set) but not changed. A Set must not be copied by assignment once it
// has members; use Clone. Reading from several goroutines at once is fine,
// changing needs the caller's lock.
package idset
