// SPDX-License-Identifier: LGPL-3.0-or-later

// Package hostlist holds lists of host names in the form that Flux writes them
// in (RFC 29): `node[08-11],login`.
//
// A List keeps the order, repeats and leading zeros. It is kept as runs of
// names that differ in their number only, so `node[1-100000]` costs as much as
// one name. The zero List is empty and ready to use; a nil *List may be read.
// Reading from several goroutines at once is fine, changing needs the caller's
// lock.
package hostlist
