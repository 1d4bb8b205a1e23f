// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"strconv"
	"strings"
)

// The overlay's tree. `kary:N` is a k-ary tree in rank order, kary:0 a flat
// one, `custom:P1,P2,...` names the parent of rank 1, 2 and so on
// (flux-broker-attributes(7), tbon.topo; bootstrap with custom parents).

func parentsOf(topo string, size int) ([]int, error) {
	kind, arg, _ := strings.Cut(topo, ":")
	parent := make([]int, size)
	parent[0] = -1
	switch kind {
	case "kary":
		k, err := strconv.Atoi(arg)
		if err != nil || k < 0 {
			return nil, fmt.Errorf("embed: topology %q: bad fan-out", topo)
		}
		for r := 1; r < size; r++ {
			if k > 0 {
				parent[r] = (r - 1) / k
			}
		}
	case "custom":
		fields := strings.Split(arg, ",")
		if len(fields) != size-1 {
			return nil, fmt.Errorf("embed: topology %q: %d parents for %d ranks", topo, len(fields), size-1)
		}
		for i, f := range fields {
			p, err := strconv.Atoi(f)
			if err != nil || p < 0 || p > i {
				return nil, fmt.Errorf("embed: topology %q: bad parent of rank %d", topo, i+1)
			}
			parent[i+1] = p
		}
	default:
		return nil, fmt.Errorf("embed: topology %q is not known", topo)
	}
	return parent, nil
}

// Parent gives a rank's parent in the tree, -1 for rank 0.
func (in *Instance) Parent(rank int) int { return in.brokers[rank].parent }

// Children gives the ranks below a rank, lost ones too.
func (in *Instance) Children(rank int) []int { return in.brokers[rank].children }

// subtree calls fn for rank and all below it, in rank order of each level.
func (in *Instance) subtree(rank int, fn func(*broker)) {
	b := in.brokers[rank]
	fn(b)
	for _, c := range b.children {
		in.subtree(c, fn)
	}
}

// under tells whether rank is top or below it.
func (in *Instance) under(rank, top int) bool {
	for r := rank; r >= 0; r = in.brokers[r].parent {
		if r == top {
			return true
		}
	}
	return false
}

// hops calls fn for each link of the path between two ranks: down is true
// where the message moves away from rank 0, b is the link's lower end.
func (in *Instance) hops(from, to int, fn func(b *broker, down bool)) int {
	n := 0
	a, z := in.brokers[from], in.brokers[to]
	for a.depth > z.depth {
		fn(a, false)
		a = in.brokers[a.parent]
		n++
	}
	for z.depth > a.depth {
		fn(z, true)
		z = in.brokers[z.parent]
		n++
	}
	for a != z {
		fn(a, false)
		fn(z, true)
		a, z = in.brokers[a.parent], in.brokers[z.parent]
		n += 2
	}
	return n
}
