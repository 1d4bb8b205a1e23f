// SPDX-License-Identifier: LGPL-3.0-or-later

// Package rv1reader reads, writes and computes with R, the resource set of
// Flux, in version 1 of its format (RFC 20). It is pure Go and needs no Flux.
//
// Reading:
//
//	Read, ReadLimits    bytes to *R, with every fault and where it is
//	R                   what was read; R.Short, R.Host, R.PropertyRanks,
//	                    R.SelectRanks, R.RemoveRanks
//	Fault               one fault or warning: path, value, byte offset, text
//	Limits              what an R may name at most
//
// Read takes what flux-core takes and says in R.Warnings what RFC 20 forbids.
// It is stricter in a few things only, in which flux-core reads something else
// than is written: ids, versions and nslots past 32 bits, a stray bracket in a
// host name, numbers of hosts past 64 bits, names of hosts past 255 bytes. And
// it has Limits.
//
// Sets of resources:
//
//	ResourceSet         union, intersection, difference, ranks, counts
//	Children, Child     the cores, gpus and others of one rank
//	Group, NewResourceSet
//
// Writing:
//
//	R.Encode            as flux-core groups and compresses it
//	SetExpiration, SetScheduling, DeleteScheduling
//	                    edits that keep every other byte
//
// A job on the instance's inventory:
//
//	Inventory           ranks, hosts and resources of an instance
//	Inventory.NewR      a part of it to the R of an allocation
//	Inventory.Map       a job's R to a Mapping: what it holds, which of it are
//	                    whole nodes, which ranks are in doubt, and why
//	Problem             one thing that does not fit
//	Ledger              which job holds what; Book reports overlaps
//
// A scheduler that recovers running jobs reads each R, maps it, books the
// mapped set, and keeps others off the ranks in Mapping.Doubt and in the
// overlaps until the job is freed:
//
//	inv := rv1reader.NewInventory(instanceR)
//	ledger := rv1reader.NewLedger()
//	r, err := rv1reader.Read(text) // err: log it, and go on with r
//	m := inv.Map(r)
//	overlaps := ledger.Book(id, m.Set)
//	fenced := m.Doubt.Clone()
//	for _, o := range overlaps {
//		fenced.Add(o.Rank)
//	}
//
// Sub-packages: idset (RFC 22), hostlist (RFC 29), and jgf, which writes the
// scheduling key of Fluxion for an R and an inventory.
//
// A ResourceSet, Children, an Inventory and an R that was read are not changed
// by anything here and can be shared between goroutines. A Ledger, and an
// idset.Set or hostlist.List that is being changed, need the caller's lock.
package rv1reader
