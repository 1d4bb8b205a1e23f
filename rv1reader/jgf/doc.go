// SPDX-License-Identifier: LGPL-3.0-or-later

// Package jgf writes the scheduling key that Fluxion puts into R: the JSON
// graph format of what a job holds, as Fluxion's match format rv1 has it.
//
// The graph is a tree: the cluster, below it the nodes, below each node its
// cores, gpus and whatever else R names there. A vertex is identified by its
// path, `/cluster0/tioga7/core3`; ids are numbers of the vertices of the whole
// inventory, so that the graphs of several jobs agree about them.
package jgf
