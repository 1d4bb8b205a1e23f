// SPDX-License-Identifier: LGPL-3.0-or-later

package resource

import "fmt"

// Verify works out anew from what the jobs hold what must be free, and compares.
// It tells of a core that two jobs hold, of one that nobody holds and that is
// not free, and of sets that do not follow the counts. For tests and for the
// report of a doubtful instance: it looks at every node.
func (p *Pool) Verify() error {
	n := p.Len()
	cores, gpus := make([]Bits, n), make([]Bits, n)
	users, fences := make([]int32, n), make([]int32, n)
	for i := range p.nodes {
		cores[i], gpus[i] = p.nodes[i].kind.allC.Clone(), p.nodes[i].kind.allG.Clone()
	}
	for _, a := range p.Allocs() {
		held := 0
		for k := range a.Parts {
			part := &a.Parts[k]
			if part.freed {
				continue
			}
			held++
			users[part.Node]++
			if !within(part.Cores, cores[part.Node]) || !within(part.GPUs, gpus[part.Node]) {
				return fmt.Errorf("rank %d: %s holds what another job holds", p.Rank(int(part.Node)), a.ID)
			}
			cores[part.Node].AndNot(part.Cores)
			gpus[part.Node].AndNot(part.GPUs)
		}
		if held != a.held {
			return fmt.Errorf("%s: holds %d nodes, counted %d", a.ID, held, a.held)
		}
		for _, i := range a.Fences {
			fences[i]++
		}
	}
	for i := range p.nodes {
		nd := &p.nodes[i]
		switch {
		case !nd.cores.Equal(cores[i]) || !nd.gpus.Equal(gpus[i]):
			return fmt.Errorf("rank %d: free are cores %x gpus %x, should be %x %x", nd.rank, nd.cores, nd.gpus, cores[i], gpus[i])
		case int(p.freeC[i]) != cores[i].Count() || int(p.freeG[i]) != gpus[i].Count():
			return fmt.Errorf("rank %d: counted %d cores %d gpus free", nd.rank, p.freeC[i], p.freeG[i])
		case users[i] != p.users[i] || fences[i] != p.fences[i]:
			return fmt.Errorf("rank %d: counted %d jobs %d fences, there are %d %d", nd.rank, p.users[i], p.fences[i], users[i], fences[i])
		}
		if err := p.verifySets(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) verifySets(i int) error {
	usable := s.usable(i)
	idle := usable && s.users[i] == 0 && s.totalC[i] > 0
	some := usable && s.freeC[i] > 0
	if s.idle.Has(i) != idle || s.some.Has(i) != some {
		return fmt.Errorf("node %d: idle %t some %t, should be %t %t", i, s.idle.Has(i), s.some.Has(i), idle, some)
	}
	for k, b := range s.byFree {
		if b != nil && b.Has(i) != (some && int(s.freeC[i]) == k) {
			return fmt.Errorf("node %d: is wrongly in or out of the set of %d free cores", i, k)
		}
	}
	return nil
}
