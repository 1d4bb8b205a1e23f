// SPDX-License-Identifier: LGPL-3.0-or-later

package reserve

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"flux-burrow/module/sched/constraint"
	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

// instance has the hosts n0, n1 and so on at ranks, those of big have a
// property of that name.
type instance struct{ ranks, big string }

func (n instance) All() *idset.Set { return idset.MustParse(n.ranks) }

func (n instance) Hosts(hosts *hostlist.List) (*idset.Set, *hostlist.List) {
	ranks, missing := &idset.Set{}, &hostlist.List{}
	for _, host := range hosts.All() {
		rank := -1
		if _, err := fmt.Sscanf(host, "n%d", &rank); err == nil && n.All().Contains(rank) {
			ranks.Add(rank)
		} else {
			missing.AppendHost(host)
		}
	}
	return ranks, missing
}

// Match knows the one constraint that the tests use.
func (n instance) Match(e *constraint.Expr) *idset.Set {
	if e.String() == bigOnes {
		return idset.MustParse(n.big).Intersect(n.All())
	}
	return &idset.Set{}
}

const (
	now     = 1000.0
	bigOnes = `{"properties":["big"]}`
)

var eight = instance{"0-7", "4-7"}

func res(name, nodes string, start, end float64) Reservation {
	return Reservation{Name: name, Nodes: nodes, Start: start, End: end}
}

func with(r Reservation, change func(*Reservation)) Reservation {
	change(&r)
	return r
}

func TestAdd(t *testing.T) {
	long := strings.Repeat("a", 64)
	byConstraint := func(text string) Reservation {
		return with(res("c", "", now, now+10), func(r *Reservation) { r.Constraint = text })
	}
	tests := []struct {
		r     Reservation
		ranks string // as resolved
		fault string // or a part of the error
		num   syscall.Errno
	}{
		{res("a", "0-3", now+10, now+20), "0-3", "", 0},
		{res("a", "[0-3,5]", now+10, now+20), "0-3,5", "", 0},
		{res("a", "n[1-2],n7", now+10, now+20), "1-2,7", "", 0},
		{res("a", "3", now, now+1), "3", "", 0},
		{res("a", "3", now-100, now+1), "3", "", 0},
		{res(long, "3", now, now+1), "3", "", 0},
		{res("A.b_c-9", "3", now, now+1), "3", "", 0},
		{byConstraint(bigOnes), "4-7", "", 0},

		{res("", "3", now, now+1), "", "name: it is empty", syscall.EINVAL},
		{res(long+"a", "3", now, now+1), "", "65 bytes", syscall.EINVAL},
		{res("a b", "3", now, now+1), "", `name: "a b" has ' '`, syscall.EINVAL},
		{res("ä", "3", now, now+1), "", `name: "ä" has 'ä'`, syscall.EINVAL},
		{res("old", "3", now, now+1), "", "name: there is a reservation old, from ", syscall.EEXIST},
		{res("a", "3", now, now), "", "duration: 0 is not more than 0", syscall.EINVAL},
		{res("a", "3", now, now-5), "", "duration: -5", syscall.EINVAL},
		{res("a", "3", now, math.NaN()), "", "duration: NaN", syscall.EINVAL},
		{res("a", "3", now, math.Inf(1)), "", "after the year 2262", syscall.EINVAL},
		{res("a", "3", math.NaN(), now+1), "", "start: NaN", syscall.EINVAL},
		{res("a", "3", -1, now+1), "", "start: -1", syscall.EINVAL},
		{res("a", "3", 1e300, 2e300), "", "start: 1e+300", syscall.EINVAL},
		{res("a", "3", now-100, now), "", "duration: it is over at 1970-01-01T", syscall.EINVAL},
		{res("a", "", now, now+1), "", "neither nodes nor constraint", syscall.EINVAL},
		{with(byConstraint(bigOnes), func(r *Reservation) { r.Nodes = "1" }), "", "both nodes and constraint", syscall.EINVAL},
		{res("a", "8-9", now, now+1), "", "there is no rank 8-9", syscall.EINVAL},
		{res("a", "6-9", now, now+1), "", "there is no rank 8-9", syscall.EINVAL},
		{res("a", "n[6-9]", now, now+1), "", "there is no host n[8-9]", syscall.EINVAL},
		{res("a", "3-1", now, now+1), "", `nodes: idset "3-1"`, syscall.EINVAL},
		{res("a", "n[3-1]", now, now+1), "", "nodes: hostlist", syscall.EINVAL},
		{res("a", "[]", now, now+1), "", `nodes: "[]" is empty`, syscall.EINVAL},
		{byConstraint(`{"properties":["no"]}`), "", `no node matches {"properties":["no"]}`, syscall.EINVAL},
		{byConstraint(`{"smell":["no"]}`), "", "constraint: smell", syscall.EINVAL},
		{byConstraint(`{`), "", "constraint: not JSON", syscall.EINVAL},
		{with(res("a", "3", now, now+1), func(r *Reservation) { r.Reason = "a\nb" }), "", "reason: ", syscall.EINVAL},
		{with(res("a", "3", now, now+1), func(r *Reservation) { r.Reason = strings.Repeat("r", 1025) }), "", "reason: it has 1025", syscall.EINVAL},
		{with(res("a", "3", now, now+1), func(r *Reservation) { r.Users = []int64{-1} }), "", "users: -1", syscall.EINVAL},
		{with(res("a", "3", now, now+1), func(r *Reservation) { r.Users = []int64{1 << 32} }), "", "users: 4294967296", syscall.EINVAL},
		{with(res("a", "3", now, now+1), func(r *Reservation) { r.Rabbits = []string{""} }), "", `rabbits: ""`, syscall.EINVAL},

		// There is old on ranks 0-1 from now+100 to now+200.
		{res("a", "0", now, now+100), "0", "", 0},
		{res("a", "0", now+200, now+300), "0", "", 0},
		{res("a", "2-7", now+100, now+200), "2-7", "", 0},
		{res("a", "1-2", now, now+100.5), "", "rank 1 has the reservation old from ", syscall.EEXIST},
		{res("a", "n[0-7]", now+199, now+300), "", "rank 0-1 has the reservation old from ", syscall.EEXIST},
		{res("a", "0", now+120, now+130), "", "reservation old", syscall.EEXIST},
		{res("a", "0", now, now+1000), "", "reservation old", syscall.EEXIST},
	}
	for _, tt := range tests {
		var b Book
		if err := b.Add(res("old", "0-1", now+100, now+200), eight, now); err != nil {
			t.Fatal(err)
		}
		err := b.Add(tt.r, eight, now)
		if tt.fault != "" {
			var num syscall.Errno
			if err == nil || !strings.Contains(err.Error(), tt.fault) || !errors.As(err, &num) || num != tt.num {
				t.Errorf("%+v: error is %v (%d), want %q (%d)", tt.r, err, num, tt.fault, tt.num)
			}
			if b.Len() != 1 {
				t.Errorf("%+v: it was refused, and is there", tt.r)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %s", tt.r, err)
		} else if got := b.Get(tt.r.Name).Ranks.String(); got != tt.ranks {
			t.Errorf("%+v: ranks %s, want %s", tt.r, got, tt.ranks)
		}
	}
}

func names(list []*Reservation) string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

func TestBook(t *testing.T) {
	var b Book
	for _, r := range []Reservation{
		res("late", "0", now+50, now+60), res("b", "1", now+10, now+20), res("a", "2", now+10, now+30), res("soon", "3", now-5, now+5),
	} {
		if err := b.Add(r, eight, now); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(b.List()); got != "soon a b late" {
		t.Errorf("in order: %s", got)
	}
	for _, tt := range []struct{ at, next float64 }{{0, now - 5}, {now, now + 5}, {now + 5, now + 10}, {now + 10, now + 20}, {now + 20, now + 30}, {now + 50, now + 60}, {now + 60, math.Inf(1)}} {
		if got := b.Next(tt.at); got != tt.next {
			t.Errorf("next after %g is %g, want %g", tt.at, got, tt.next)
		}
	}
	for _, tt := range []struct {
		at    float64
		state State
	}{{now + 9, Waiting}, {now + 10, Active}, {now + 19, Active}, {now + 20, Over}} {
		if got := b.Get("b").State(tt.at); got != tt.state {
			t.Errorf("at %g: %s, want %s", tt.at, got, tt.state)
		}
	}
	c := b.Clone()
	if err := c.Remove("a"); err != nil || names(c.List()) != "soon b late" || names(b.List()) != "soon a b late" {
		t.Errorf("removed from a copy: %v, %s; left in the other: %s", err, names(c.List()), names(b.List()))
	}
	if err := c.Remove("a"); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("removed twice: %v", err)
	}
	if c.Get("a") != nil || b.Get("a") == nil {
		t.Error("the copy and the original are one")
	}
	// A name is free again once its reservation is over.
	if err := b.Add(res("a", "2", now+40, now+50), eight, now+30); err != nil || b.Get("a").Start != now+40 || names(b.List()) != "soon b a late" {
		t.Errorf("again: %v, %s", err, names(b.List()))
	}
}

func TestUsers(t *testing.T) {
	var b Book
	r := res("a", "0", now, now+1)
	r.Users = []int64{7, 3, 7}
	if err := b.Add(r, eight, now); err != nil {
		t.Fatal(err)
	}
	got := b.Get("a")
	if !reflect.DeepEqual(got.Users, []int64{3, 7}) || !got.For(3) || !got.For(7) || got.For(4) || (&r).Users[0] != 7 {
		t.Errorf("%v", got.Users)
	}
}

// Nodes that come and go are followed; a reservation that lost some is kept.
func TestResolve(t *testing.T) {
	var b Book
	c := res("c", "", now, now+10)
	c.Constraint = bigOnes
	for _, r := range []Reservation{res("h", "n[0-1]", now, now+10), res("r", "2-3", now, now+10), c} {
		if err := b.Add(r, eight, now); err != nil {
			t.Fatal(err)
		}
	}
	if changed := b.Resolve(eight); len(changed) != 0 {
		t.Errorf("nothing changed, but %s", names(changed))
	}
	before := b.Get("h")
	if changed := names(b.Resolve(instance{"1-2,4-7", "6-7"})); changed != "c h r" {
		t.Errorf("changed: %s", changed)
	}
	if before.Ranks.String() != "0-1" {
		t.Error("one that was given out has changed")
	}
	for name, want := range map[string]string{"h": "1 n0", "r": "2 3", "c": "6-7 "} {
		if r := b.Get(name); r.Ranks.String()+" "+r.Missing != want {
			t.Errorf("%s: rank %s, missing %q, want %q", name, r.Ranks, r.Missing, want)
		}
	}
	b.Resolve(eight)
	if r := b.Get("h"); r.Ranks.String() != "0-1" || r.Missing != "" {
		t.Errorf("h is back: %+v", r)
	}
}

func TestEncode(t *testing.T) {
	var b Book
	full := Reservation{Name: "full", Constraint: bigOnes, Rabbits: []string{"r1"}, Start: now + 0.25, End: now + 1e6, Reason: "because \"x\"", Users: []int64{1, 2}}
	for _, r := range []Reservation{res("plain", "n[0-1]", now, now+10), full} {
		if err := b.Add(r, eight, now); err != nil {
			t.Fatal(err)
		}
	}
	got, faults := Decode(b.Encode())
	got.Resolve(eight)
	if len(faults) > 0 || got.Encode() != b.Encode() || !reflect.DeepEqual(got.Get("full"), b.Get("full")) {
		t.Errorf("%v: %s, want %s", faults, got.Encode(), b.Encode())
	}
	var none Book
	if none.Encode() != `{"version":1,"reservations":[]}` {
		t.Errorf("an empty book: %s", none.Encode())
	}
}

func TestDecodeBad(t *testing.T) {
	good := `{"name":"good","nodes":"0","start":1,"end":2,"colour":"red"}`
	for entry, word := range map[string]string{
		`{"name":"bad","nodes":"0","start":2,"end":1}`:                 "reservation bad is dropped: duration",
		`{"name":"bad","start":1,"end":2}`:                             "reservation bad is dropped: neither",
		`{"name":"bad","nodes":"n[","start":1,"end":2}`:                "reservation bad is dropped: nodes",
		`{"name":"bad","nodes":"0","start":"x","end":2}`:               "reservation bad is dropped: ",
		`{"name":"good","nodes":"1","start":1,"end":2}`:                "reservation good is dropped: there is another",
		`{"name":"a b","nodes":"1","start":1,"end":2}`:                 "reservation number 2 is dropped: name",
		`{"name":"bad","constraint":"big","start":1,"end":2}`:          "reservation bad is dropped: constraint",
		`{"name":"bad","constraint":{"x":[]},"start":1,"end":2}`:       "reservation bad is dropped: constraint: x",
		`{"name":"bad","nodes":"0","constraint":{},"start":1,"end":2}`: "reservation bad is dropped: both",
		`7`:    "reservation number 2 is dropped",
		`null`: "reservation number 2 is dropped",
	} {
		b, faults := Decode(`{"version":1,"more":1,"reservations":[` + good + "," + entry + `]}`)
		if names(b.List()) != "good" || len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), word) {
			t.Errorf("%s: %s, %v, want %q", entry, names(b.List()), faults, word)
		}
		if strings.Contains(b.Encode(), "colour") {
			t.Errorf("%s", b.Encode())
		}
	}
	for _, text := range []string{``, `[]`, `{"version":2,"reservations":[]}`, `{}`, `{"version":1,"reservations":7}`, `"x`} {
		if b, faults := Decode(text); len(faults) != 1 || b.Len() != 0 {
			t.Errorf("%s: %v", text, faults)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"version":1,"reservations":[{"name":"a","nodes":"n[0-1]","start":1,"end":2},{"name":"b","constraint":{"not":[{"ranks":["1"]}]},"start":1,"end":2,"users":[1]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, _ := Decode(text)
		again, faults := Decode(b.Encode())
		if len(faults) > 0 || again.Encode() != b.Encode() {
			t.Errorf("%s: %v: %s", b.Encode(), faults, again.Encode())
		}
	})
}

func TestParse(t *testing.T) {
	r, err := ParseAdd(`{"name":"a","constraint":{"properties":["big"]},"start":1000,"duration":60.5,"users":[5],"reason":"x"}`)
	if err != nil || r.End != 1060.5 || r.Constraint != bigOnes || !r.For(5) {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = ParseAdd(`{"name":"a","nodes":"0","constraint":null,"start":1000,"duration":60}`); err != nil || r.Constraint != "" {
		t.Errorf("%+v %v", r, err)
	}
	for payload, want := range map[string]struct {
		word string
		num  syscall.Errno
	}{
		``:                                       {"there is none", syscall.EPROTO},
		`[]`:                                     {"bad payload", syscall.EPROTO},
		`{"name":"a","nodes":"0","start":10}`:    {`"duration" is missing`, syscall.EPROTO},
		`{"name":"a","nodes":"0","duration":10}`: {`"start" is missing`, syscall.EPROTO},
		`{"nodes":"0","start":1,"duration":10}`:  {`"name" is missing`, syscall.EPROTO},
		`{"name":7,"nodes":"0","start":1,"duration":10}`:                {"bad payload", syscall.EPROTO},
		`{"name":"a","nodes":"0","start":1,"duration":10,"user":[1]}`:   {`"user"`, syscall.EPROTO},
		`{"name":"a","nodes":"0","start":1,"duration":10,"Users":[1]}`:  {`"Users"`, syscall.EPROTO},
		`{"name":"a","nodes":"0","start":1,"duration":0}`:               {"duration: 0 is", syscall.EINVAL},
		`{"name":"a","nodes":"0","start":1,"duration":10,"users":[-1]}`: {"users: -1", syscall.EINVAL},
	} {
		_, err := ParseAdd(payload)
		if err == nil || !strings.Contains(err.Error(), want.word) || !errors.Is(err, want.num) {
			t.Errorf("%s: %v, want %q", payload, err, want.word)
		}
	}
	if _, err := ParseRemove(`{}`); !errors.Is(err, syscall.EPROTO) {
		t.Errorf("%v", err)
	}
}
