// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"sort"
	"strings"
)

// coreSet is what an R (RFC 20) says of cores and gpus, by rank.
type coreSet map[int]children

type children struct{ cores, gpus string }

func (s coreSet) addR(r string) {
	for _, lite := range jsonGet(r, "execution.R_lite").Array() {
		ranks, _ := decodeIDs(lite.Get("rank").Str)
		c := children{lite.Get("children.core").Str, lite.Get("children.gpu").Str}
		for _, rank := range ranks {
			old := s[rank]
			s[rank] = children{unionIDs(old.cores, c.cores), unionIDs(old.gpus, c.gpus)}
		}
	}
}

// overlaps tells whether an R names a core or a gpu that is in s.
func (s coreSet) overlaps(r string) bool {
	o := coreSet{}
	o.addR(r)
	for rank, c := range o {
		if commonID(c.cores, s[rank].cores) || commonID(c.gpus, s[rank].gpus) {
			return true
		}
	}
	return false
}

func commonID(a, b string) bool {
	x, _ := decodeIDs(a)
	y, _ := decodeIDs(b)
	for _, id := range x {
		if contains(y, id) {
			return true
		}
	}
	return false
}

func unionIDs(a, b string) string {
	if a == "" || b == "" || a == b {
		return a + b[:len(b)*boolInt(a != b)]
	}
	x, _ := decodeIDs(a)
	y, _ := decodeIDs(b)
	for _, id := range y {
		if !contains(x, id) {
			x = append(x, id)
		}
	}
	sort.Ints(x)
	return encodeIDs(x)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s coreSet) ranks() []int {
	ranks := make([]int, 0, len(s))
	for r := range s {
		ranks = append(ranks, r)
	}
	sort.Ints(ranks)
	return ranks
}

// makeR writes an R. nslots 0 leaves that key out.
func (in *Instance) makeR(s coreSet, start, expiration float64, nslots int) string {
	byChildren := map[children][]int{}
	var order []children
	ranks := s.ranks()
	for _, r := range ranks {
		if byChildren[s[r]] == nil {
			order = append(order, s[r])
		}
		byChildren[s[r]] = append(byChildren[s[r]], r)
	}
	var b strings.Builder
	b.WriteString(`{"version":1,"execution":{"R_lite":[`)
	for i, c := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"rank":"%s","children":{"core":"%s"`, encodeIDs(byChildren[c]), c.cores)
		if c.gpus != "" {
			fmt.Fprintf(&b, `,"gpu":"%s"`, c.gpus)
		}
		b.WriteString("}}")
	}
	fmt.Fprintf(&b, `],"starttime":%s,"expiration":%s`, ftoa(start), ftoa(expiration))
	if nslots > 0 {
		fmt.Fprintf(&b, `,"nslots":%d`, nslots)
	}
	fmt.Fprintf(&b, `,"nodelist":[%s]}}`, quote(in.hosts(ranks)))
	return b.String()
}

func ranksOfR(r string) []int {
	s := coreSet{}
	s.addR(r)
	return s.ranks()
}

// partOfR is an R of only some ranks, as housekeeping frees it
// (recorded/sched-trace-3.jsonl): times 0, no nslots.
func (in *Instance) partOfR(r string, ranks []int) string {
	all, part := coreSet{}, coreSet{}
	all.addR(r)
	for _, rank := range ranks {
		if c, ok := all[rank]; ok {
			part[rank] = c
		}
	}
	return in.makeR(part, 0, 0, 0)
}

// Hostname gives a rank's host name.
func (in *Instance) Hostname(rank int) string {
	if rank < len(in.opts.Hosts) {
		return in.opts.Hosts[rank]
	}
	return fmt.Sprintf("node%d", rank)
}

// hosts writes host names of ranks as a host list (RFC 29).
func (in *Instance) hosts(ranks []int) string {
	if len(in.opts.Hosts) == 0 {
		switch len(ranks) {
		case 0:
			return ""
		case 1:
			return in.Hostname(ranks[0])
		}
		return "node[" + encodeIDs(ranks) + "]"
	}
	var names []string
	for _, r := range ranks {
		names = append(names, in.Hostname(r))
	}
	return strings.Join(names, ",")
}

func (in *Instance) hostlist() string {
	ranks := make([]int, len(in.brokers))
	for r := range ranks {
		ranks[r] = r
	}
	return in.hosts(ranks)
}
