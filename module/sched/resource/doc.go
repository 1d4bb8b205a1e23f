// SPDX-License-Identifier: LGPL-3.0-or-later

// Package resource knows what the instance has, what of it is in use by which
// job, and where a request fits.
//
// A node is an index from 0 in the order of ranks. Its cores and gpus are two
// bitmaps of what is free. Beside them a [State] keeps counts and sets of
// nodes (idle, with something free, by number of free cores), each of them one
// bitmap over all nodes: a search passes over 64 nodes that do not matter in
// one step and looks only at nodes that will do.
//
// What a job holds is never taken from what a free request says: the pool
// keeps it, and a core is held by at most one job. Where that can't be (two
// jobs that were recovered with the same core) the later one holds the rest
// and the node is fenced: nobody gets anything on it until that job ends.
package resource
