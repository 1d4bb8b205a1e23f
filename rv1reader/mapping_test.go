// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// inv8 is an inventory of two kinds of nodes with a gap between the ranks, and
// one rank that has nothing.
func inv8(t testing.TB) *Inventory {
	return NewInventory(mustRead(t, doc(
		`[{"rank":"0-3","children":{"core":"0-7","gpu":"0-1"}},{"rank":"6-8","children":{"core":"0-15"}},{"rank":"9","children":{}}]`,
		`,"nodelist":["n[0-3]","big[6-8]","bare"]`)))
}

func TestMap(t *testing.T) {
	for _, c := range []struct {
		name, lite, hosts       string
		set, whole, doubt, lost string
		problems                []string
	}{
		{"part of a node", `[{"rank":"1","children":{"core":"2-3"}}]`, "n1", "rank1/core[2-3]", "", "", "", nil},
		{"all but a gpu", `[{"rank":"1","children":{"core":"0-7","gpu":"1"}}]`, "n1", "rank1/core[0-7],gpu1", "", "", "", nil},
		{"whole nodes of both kinds", `[{"rank":"2-3","children":{"core":"0-7","gpu":"0-1"}},{"rank":"6","children":{"core":"0-15"}}]`, "n[2-3],big6",
			"rank[2-3]/core[0-7],gpu[0-1] rank6/core[0-15]", "2-3,6", "", "", nil},
		{"no nodelist", `[{"rank":"2","children":{"core":"0"}}]`, "", "rank2/core0", "", "", "", nil},
		{"no nodelist, unknown rank", `[{"rank":"2,4-5,77","children":{"core":"0"}}]`, "", "rank2/core0", "", "", "4-5,77",
			[]string{"ranks 4-5,77: not in the instance"}},
		{"unknown rank and host", `[{"rank":"3-4","children":{"core":"0"}}]`, "n[3-4]", "rank3/core0", "", "", "4",
			[]string{"rank 4 (n4): the instance has no such rank and no such host"}},
		{"moved", `[{"rank":"0-1","children":{"core":"0"}}]`, "n0,n3", "rank0/core0", "", "1,3", "",
			[]string{"rank 1 (n3): the host is at rank 3 now, and n1 where it was"}},
		{"moved, and its rank is gone", `[{"rank":"4","children":{"core":"0"}}]`, "n2", "", "", "2", "4",
			[]string{"rank 4 (n2): the instance has no such rank, the host is at rank 2 now"}},
		{"swapped", `[{"rank":"0-1","children":{"core":"0-7","gpu":"0-1"}}]`, "n1,n0", "", "", "0-1", "",
			[]string{"rank 0 (n1): the host is at rank 1 now, and n0 where it was", "rank 1 (n0): the host is at rank 0 now, and n1 where it was"}},
		{"renamed", `[{"rank":"0-1","children":{"core":"0"}}]`, "n0,old1", "rank0/core0", "", "1", "",
			[]string{"rank 1 (old1): the instance has no such host, and n1 at that rank"}},
		{"core out of range", `[{"rank":"2-3,6","children":{"core":"6-9"}}]`, "n[2-3],big6", "rank[2-3]/core[6-7] rank6/core[6-9]", "", "2-3", "",
			[]string{"ranks 2-3: the instance has no core[8-9] there"}},
		{"more than whole", `[{"rank":"0","children":{"core":"0-8","gpu":"0-1"}}]`, "n0", "rank0/core[0-7],gpu[0-1]", "0", "0", "",
			[]string{"rank 0: the instance has no core8 there"}},
		{"gpu where there is none", `[{"rank":"7","children":{"core":"0","gpu":"0"}}]`, "big7", "rank7/core0", "", "7", "",
			[]string{"rank 7: the instance has no gpu0 there"}},
		{"unknown type", `[{"rank":"7","children":{"core":"0","nvme":"1"}}]`, "big7", "rank7/core0", "", "7", "",
			[]string{"rank 7: the instance has no nvme1 there"}},
		{"at a rank that has nothing", `[{"rank":"9","children":{"core":"0"}}]`, "bare", "", "", "9", "",
			[]string{"rank 9: the instance has no core0 there"}},
		{"nothing at a rank", `[{"rank":"1","children":{}}]`, "n1", "", "", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			more := ""
			if c.hosts != "" {
				more = fmt.Sprintf(`,"nodelist":[%q]`, c.hosts)
			}
			inv := inv8(t)
			m := inv.Map(mustRead(t, doc(c.lite, more)))
			got := []string{m.Set.String(), m.Whole.String(), m.Doubt.String(), m.Lost.String()}
			for i, want := range []string{c.set, c.whole, c.doubt, c.lost} {
				if got[i] != want {
					t.Errorf("%s is %q, want %q", []string{"set", "whole", "doubt", "lost"}[i], got[i], want)
				}
			}
			var problems []string
			for _, p := range m.Problems {
				problems = append(problems, p.Error())
			}
			if fmt.Sprint(problems) != fmt.Sprint(c.problems) {
				t.Errorf("problems %q, want %q", problems, c.problems)
			}
			if m.Fits() != (len(c.problems) == 0) {
				t.Errorf("Fits is %v", m.Fits())
			}
			if !inv.Set().Contains(m.Set) {
				t.Error("the set is not within the inventory")
			}
		})
	}
}

// n1 and n01 are two hosts.
func TestMapPadding(t *testing.T) {
	r := func(hosts string) *R {
		return mustRead(t, doc(`[{"rank":"0-1","children":{"core":"0"}}]`, `,"nodelist":["`+hosts+`"]`))
	}
	m := NewInventory(r("n[1-2]")).Map(r("n[01-02]"))
	if !m.Set.Empty() || m.Doubt.String() != "0-1" || len(m.Problems) != 2 {
		t.Errorf("set %s, doubt %s, problems %v", m.Set, m.Doubt, m.Problems)
	}
	if m := NewInventory(r("n[9-10]")).Map(r("n9,n10")); !m.Fits() {
		t.Error(m.Problems)
	}
}

// A broken R puts all ranks it names in doubt, whether they fit or not.
func TestMapBroken(t *testing.T) {
	r, err := Read([]byte(doc(`[{"rank":"0-1,44","children":{"core":"0-3","gpu":"!"}}]`, "")))
	if err == nil {
		t.Fatal("no error")
	}
	m := inv8(t).Map(r)
	if m.Set.String() != "rank[0-1]/core[0-3]" || m.Doubt.String() != "0-1" || m.Lost.String() != "44" || m.Fits() {
		t.Errorf("set %s, doubt %s, lost %s", m.Set, m.Doubt, m.Lost)
	}
	empty, _ := Read(nil)
	if m := inv8(t).Map(empty); !m.Set.Empty() || !m.Doubt.Empty() {
		t.Errorf("from nothing: %+v", m)
	}
}

// Several brokers on one host, as on a test machine.
func TestMapRepeatedHosts(t *testing.T) {
	inv := NewInventory(mustRead(t, doc(`[{"rank":"0-3","children":{"core":"0-1"}}]`, `,"nodelist":["vm,vm,other,vm"]`)))
	if got := fmt.Sprint(inv.RanksOf("vm"), inv.RanksOf("other"), inv.RanksOf("x")); got != "[0 1 3] [2] []" {
		t.Errorf("ranks of the hosts: %s", got)
	}
	if m := inv.Map(mustRead(t, doc(`[{"rank":"1,3","children":{"core":"0"}}]`, `,"nodelist":["vm,vm"]`))); !m.Fits() || m.Set.String() != "rank[1,3]/core0" {
		t.Errorf("set %s, problems %v", m.Set, m.Problems)
	}
	m := inv.Map(mustRead(t, doc(`[{"rank":"2,5","children":{"core":"0"}}]`, `,"nodelist":["vm,vm"]`)))
	if m.Doubt.String() != "0-3" || m.Lost.String() != "5" || len(m.Problems) != 2 ||
		m.Problems[0].Kind != HostMoved || !strings.Contains(m.Problems[1].Error(), "the host is at rank 0-1,3 now") {
		t.Errorf("doubt %s, lost %s, problems %v", m.Doubt, m.Lost, m.Problems)
	}
}

func TestMapManyProblems(t *testing.T) {
	r := mustRead(t, doc(`[{"rank":"0-9999","children":{"core":"0"}}]`, `,"nodelist":["x[0-9999]"]`))
	m := inv8(t).Map(r)
	if len(m.Problems) != MaxProblems || m.More != 10000-MaxProblems || m.Lost.Count() != 10000-8 || m.Doubt.String() != "0-3,6-9" {
		t.Errorf("%d problems and %d, lost %s, doubt %s", len(m.Problems), m.More, m.Lost, m.Doubt)
	}
}

func TestInventory(t *testing.T) {
	inv := inv8(t)
	for rank, host := range map[int]string{0: "n0", 3: "n3", 4: "", 6: "big6", 9: "bare", 10: "", -1: ""} {
		if inv.Host(rank) != host || inv.R().Host(rank) != host {
			t.Errorf("host of rank %d is %q and %q, want %q", rank, inv.Host(rank), inv.R().Host(rank), host)
		}
		if host != "" && fmt.Sprint(inv.RanksOf(host)) != fmt.Sprint([]int{rank}) {
			t.Errorf("ranks of %s: %v", host, inv.RanksOf(host))
		}
	}
	got, missing := inv.RanksOfHosts(hostlist.MustParse("big[5-7],n0,n0,x"))
	if got.String() != "0,6-7" || missing.String() != "big5,x" {
		t.Errorf("ranks of hosts %s, missing %s", got, missing)
	}
	twice := NewInventory(mustRead(t, doc(`[{"rank":"0-3","children":{"core":"0-1"}}]`, `,"nodelist":["vm,vm,x,vm"]`)))
	if got, _ := twice.RanksOfHosts(hostlist.MustParse("vm")); got.String() != "0-1,3" {
		t.Errorf("ranks of a host of three brokers: %s", got)
	}
	if !inv.Ranks().Equal(inv.R().Ranks) || string(inv.AppendHost([]byte("at "), 6)) != "at big6" || len(inv.AppendHost(nil, 4)) != 0 {
		t.Error("ranks or hosts")
	}
	none := NewInventory(mustRead(t, doc(okLite, "")))
	if none.Nodelist() != nil || none.Host(0) != "" || none.RanksOf("") != nil {
		t.Error("an inventory without hosts has some")
	}
}

func TestProblemKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := UnknownRank; k <= OutOfRange; k++ {
		if s := k.String(); s == "" || seen[s] {
			t.Errorf("kind %d is %q", int(k), s)
		}
		seen[k.String()] = true
	}
	if s := ProblemKind(99).String(); s != "ProblemKind(99)" {
		t.Error(s)
	}
}

func TestLedger(t *testing.T) {
	l := NewLedger()
	set := func(ranks, cores string) *ResourceSet {
		return NewResourceSet(Group{idset.MustParse(ranks), CoresGPUs(idset.MustParse(cores), nil)})
	}
	if o := l.Book(1, set("0-3", "0-3")); o != nil {
		t.Errorf("overlaps %v in an empty ledger", o)
	}
	if o := l.Book(2, set("2-4", "4-7")); o != nil {
		t.Errorf("overlaps %v", o)
	}
	o := l.Book(3, set("3-5", "3-4"))
	if got := fmt.Sprint(o); got != "[{3 3 1 core3} {3 3 2 core4} {4 3 2 core4}]" {
		t.Errorf("overlaps %s", got)
	}
	if got := fmt.Sprint(l.Holders(3), l.Holders(9), l.Jobs()); got != "[1 2 3] [] [1 2 3]" {
		t.Errorf("holders and jobs %s", got)
	}
	// What two jobs hold is in use until both are gone.
	if f := l.Free(2, idset.MustParse("4,9")); f.String() != "rank4/core[4-7]" {
		t.Errorf("freed %s", f)
	}
	if u := l.UsedAt(4); u.String() != "core[3-4]" {
		t.Errorf("in use at 4: %s", u)
	}
	if h, ok := l.Held(2); !ok || h.String() != "rank[2-3]/core[4-7]" {
		t.Errorf("held %s %v", h, ok)
	}
	if f := l.Free(3, nil); f.String() != "rank[3-5]/core[3-4]" {
		t.Errorf("freed %s", f)
	}
	if u := l.Used(); u.String() != "rank[0-1]/core[0-3] rank[2-3]/core[0-7]" {
		t.Errorf("in use %s", u)
	}
	// Again, and for a job that is not there: nothing happens.
	if f := l.Free(3, nil); !f.Empty() {
		t.Errorf("freed %s again", f)
	}
	// More for a job that has some.
	if o := l.Book(1, set("0,9", "3-5")); o != nil {
		t.Errorf("overlaps with itself: %v", o)
	}
	if h, _ := l.Held(1); h.String() != "rank0/core[0-5] rank[1-3]/core[0-3] rank9/core[3-5]" {
		t.Errorf("held %s", h)
	}
	if u := l.UsedAt(0); u.String() != "core[0-5]" {
		t.Errorf("in use at 0: %s", u)
	}
	if got := fmt.Sprint(l.Book(4, set("0", "0,5"))); got != "[{0 4 1 core[0,5]}]" {
		t.Errorf("overlaps with what was booked at first and later: %s", got)
	}
	l.Free(4, nil)
	l.Free(1, nil)
	l.Free(2, idset.MustParse("0-100"))
	if !l.Used().Empty() || len(l.Jobs()) != 0 || len(l.claims) != 0 {
		t.Errorf("left over: %s %v %v", l.Used(), l.Jobs(), l.claims)
	}
}
