// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"sort"

	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// Inventory is what an instance has: the R that resource.acquire gives, made
// ready to map the R of jobs onto it. It does not change; after a change of
// the instance make a new one. Safe for use by several goroutines.
type Inventory struct {
	r      *R
	starts []int // position in the nodelist of the first rank of each run of ranks
	// byHost has the first position of each host in the nodelist. next has for
	// each position the following one of the same host, 0 if there is none.
	byHost map[string]int32
	next   []int32
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
	if n > 0 && r.Nodelist.Len() == n {
		inv.indexHosts()
	}
	return inv
}

// indexHosts keeps all names in one string: one allocation and not thousands.
func (inv *Inventory) indexHosts() {
	n := inv.r.Nodelist.Len()
	var names []byte
	ends := make([]int32, n)
	for i := range n {
		names = inv.r.Nodelist.AppendAt(names, i)
		ends[i] = int32(len(names))
	}
	text, start := string(names), int32(0)
	inv.byHost, inv.next = make(map[string]int32, n), make([]int32, n)
	last := map[string]int32{} // of hosts that are there more than once
	for i, end := range ends {
		host := text[start:end]
		start = end
		first, again := inv.byHost[host]
		if !again {
			inv.byHost[host] = int32(i)
			continue
		}
		if l, ok := last[host]; ok {
			first = l
		}
		inv.next[first], last[host] = int32(i), int32(i)
	}
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

// AppendHost appends the host at a rank to b: Host without the string.
func (inv *Inventory) AppendHost(b []byte, rank int) []byte {
	if i := inv.position(rank); i >= 0 && inv.byHost != nil {
		return inv.r.Nodelist.AppendAt(b, i)
	}
	return b
}

// RanksOf returns the ranks that a host is at, in rising order; several
// brokers can run on one host. Nil if it is not there.
func (inv *Inventory) RanksOf(host string) []int {
	i, ok := inv.byHost[host]
	if !ok {
		return nil
	}
	ranks := []int{inv.rankAt(int(i))}
	for i = inv.next[i]; i > 0; i = inv.next[i] {
		ranks = append(ranks, inv.rankAt(int(i)))
	}
	return ranks
}

// RanksOfHosts returns the ranks of all hosts of a list, and the hosts that are
// not there: what a hostlist constraint (RFC 31) asks for.
func (inv *Inventory) RanksOfHosts(hosts *hostlist.List) (ranks *idset.Set, missing *hostlist.List) {
	ranks, missing = &idset.Set{}, &hostlist.List{}
	for _, host := range hosts.All() {
		first, ok := inv.byHost[host]
		if !ok {
			missing.AppendHost(host)
			continue
		}
		for i := first; ; i = inv.next[i] {
			ranks.Add(inv.rankAt(int(i)))
			if inv.next[i] == 0 {
				break
			}
		}
	}
	return ranks, missing
}

// rankAt returns the rank whose host is at a position of the nodelist.
func (inv *Inventory) rankAt(position int) int {
	i := sort.SearchInts(inv.starts, position+1) - 1
	return inv.r.Ranks.RunAt(i).Lo + position - inv.starts[i]
}
