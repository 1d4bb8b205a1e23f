// SPDX-License-Identifier: LGPL-3.0-or-later

package constraint

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"flux-burrow/rv1reader/idset"
)

// nodes are five nodes n0 to n4; even ones have property even, 0-1 have low.
type nodes struct{}

type set map[int]bool

func (nodes) New(all bool) set {
	s := set{}
	for i := range 5 {
		s[i] = all
	}
	return s
}
func (nodes) Property(s set, name string) {
	for i := range 5 {
		if name == "even" && i%2 == 0 || name == "low" && i < 2 {
			s[i] = true
		}
	}
}
func (nodes) Hosts(s set, hosts iter.Seq2[int, string]) {
	for _, h := range hosts {
		for i := range 5 {
			if h == "n"+string(rune('0'+i)) {
				s[i] = true
			}
		}
	}
}
func (nodes) Ranks(s set, ranks *idset.Set) {
	for i := range 5 {
		s[i] = s[i] || ranks.Contains(i)
	}
}
func (nodes) And(s, o set) {
	for i := range 5 {
		s[i] = s[i] && o[i]
	}
}
func (nodes) Or(s, o set) {
	for i := range 5 {
		s[i] = s[i] || o[i]
	}
}
func (nodes) Not(s set) {
	for i := range 5 {
		s[i] = !s[i]
	}
}

func (s set) String() string {
	out := ""
	for _, i := range slices.Sorted(maps.Keys(s)) {
		if s[i] {
			out += string(rune('0' + i))
		}
	}
	return out
}

func TestEval(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{}`, "01234"},
		{`{"properties":["even"]}`, "024"},
		{`{"properties":["even","low"]}`, "0"},
		{`{"properties":["^even"]}`, "13"},
		{`{"properties":["^even","low"]}`, "1"},
		{`{"properties":["nosuch"]}`, ""},
		{`{"properties":["^nosuch"]}`, "01234"},
		{`{"properties":[]}`, "01234"},
		{`{"hostlist":["n[1-2]","n4"]}`, "124"},
		{`{"hostlist":"n3"}`, "3"},
		{`{"hostlist":[]}`, ""},
		{`{"ranks":["0-1","3"]}`, "013"},
		{`{"ranks":["7-9"]}`, ""},
		{`{"not":[{"ranks":["0-1"]}]}`, "234"},
		{`{"not":[]}`, ""},
		{`{"and":[]}`, "01234"},
		{`{"or":[]}`, "01234"},
		{`{"and":[{"properties":["even"]},{"ranks":["2-4"]}]}`, "24"},
		{`{"or":[{"properties":["low"]},{"hostlist":["n4"]}]}`, "014"},
		{`{"and":[{"or":[{"properties":["low"]},{"ranks":["4"]}]},{"not":[{"hostlist":["n0"]}]}]}`, "14"},
		{`{"properties":["even"],"ranks":["0-2"]}`, "02"},
	}
	for _, tt := range tests {
		e, err := Parse([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %s", tt.in, err)
			continue
		}
		if got := Eval[set](e, nodes{}).String(); got != tt.want {
			t.Errorf("%s: matches %q, want %q", tt.in, got, tt.want)
		}
		if e.String() != tt.in {
			t.Errorf("%s: text is %s", tt.in, e)
		}
	}
	if got := Eval[set](nil, nodes{}).String(); got != "01234" {
		t.Errorf("none: matches %q", got)
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"not":[`, 200) + `{}` + strings.Repeat(`]}`, 200)
	for in, word := range map[string]string{
		`{`:                             "JSON",
		`[]`:                            "not an object",
		`"a"`:                           "not an object",
		`{"foo":["a"]}`:                 "foo: no such operator",
		`{"properties":[1]}`:            "not a string",
		`{"properties":{}}`:             "not a list",
		`{"properties":["a b!"]}`:       "not the name of a property",
		`{"properties":["^"]}`:          "not the name of a property",
		`{"hostlist":["n[3-1]"]}`:       "hostlist",
		`{"ranks":["3-1"]}`:             "ranks",
		`{"ranks":["a"]}`:               "ranks",
		`{"and":{}}`:                    "not a list",
		`{"or":[3]}`:                    "not an object",
		`{"not":[{"x":[]}]}`:            "not: x",
		`{"hostlist":["n[0-9999999]"]}`: "hostlist",
		deep:                            "deep",
	} {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%.60s: error is %v, want one with %q", in, err, word)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `{"properties":["a","^b"]}`, `{"not":[{"or":[{"hostlist":["n[1-9]"]},{"ranks":["0-3"]}]}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, in []byte) {
		if e, err := Parse(in); err == nil {
			Eval[set](e, nodes{})
		}
	})
}
