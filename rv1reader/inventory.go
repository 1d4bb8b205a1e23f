// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// Inventory is what an instance has: the R that resource.acquire gives, made
// ready to map the R of jobs onto it. It does not change; after a change of
// the instance make a new one. Safe for use by several goroutines.
type Inventory struct {
	r      *R
	starts []int // position in the nodelist of the first rank of each run of ranks
	byHost map[string][]int32
}

// NewInventory makes the inventory of an R as Read gave it. An R without a
// nodelist gives one that knows ranks but no hosts.
func NewInventory(r *R) *Inventory {
	inv := &Inventory{r: r}
	n := 0
	for run := range r.Ranks.Runs() {
		inv.starts = append(inv.starts, n)
		n += run.Hi - run.Lo + 1
	}
	if r.Nodelist.Len() == n {
		inv.byHost = make(map[string][]int32, n)
		next := r.Ranks.First()
		for _, host := range r.Nodelist.All() {
			inv.byHost[host] = append(inv.byHost[host], int32(next))
			next = r.Ranks.Next(next)
		}
	}
	return inv
}

// position returns the place of a rank in the nodelist; -1 if there is no such
// rank.
func (inv *Inventory) position(rank int) int {
	i := inv.r.Ranks.IndexRun(rank)
	if i < 0 {
		return -1
	}
	return inv.starts[i] + rank - inv.r.Ranks.RunAt(i).Lo
}

// R returns the R that the inventory was made from.
func (inv *Inventory) R() *R { return inv.r }

// Set returns all resources.
func (inv *Inventory) Set() *ResourceSet { return inv.r.Set }

// Ranks returns all ranks, those without children too. Not to be changed.
func (inv *Inventory) Ranks() *idset.Set { return inv.r.Ranks }

// Nodelist returns the hosts, one for each of Ranks; nil if not known.
func (inv *Inventory) Nodelist() *hostlist.List {
	if inv.byHost == nil {
		return nil
	}
	return inv.r.Nodelist
}

// Host returns the host at a rank; "" if it is not known.
func (inv *Inventory) Host(rank int) string {
	if i := inv.position(rank); i >= 0 && inv.byHost != nil {
		return inv.r.Nodelist.At(i)
	}
	return ""
}

// RanksOf returns the ranks that a host is at, in rising order; several
// brokers can run on one host. Nil if it is not there.
func (inv *Inventory) RanksOf(host string) []int {
	var ranks []int
	for _, r := range inv.byHost[host] {
		ranks = append(ranks, int(r))
	}
	return ranks
}
