// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// stricter lists what flux-core takes and this package refuses, each with the
// reason.
var stricter = map[string]string{
	"foo[99999999999999999999]": "flux-core reads another number than is written",
	// A ']' without its '[' makes flux-core take it, and commas after it, into
	// the name of a host.
	"n00,4oo[01]9-024]":                     strayBracket,
	"x12,a-b[4-7,9]-ib]4":                   strayBracket,
	"h2o003-006,008].x,n0[01-01],rzvernal7": strayBracket,
	"n0,0zv]rnal[1112].x,n0[08-12]":         strayBracket,
	"rzvernal[3-]35]-ib0,x":                 strayBracket,
}

const strayBracket = "a stray bracket becomes part of a name"

func TestRecorded(t *testing.T) {
	f, err := os.Open("testdata/library-hostlist.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for ; lines.Scan(); n++ {
		var want struct {
			In, Encode, Uniq, Last string
			OK                     bool
			Count                  int
			Hosts, Head            []string
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(want.In)
		if stricter[want.In] != "" {
			want.OK = false
		}
		if (err == nil) != want.OK {
			t.Errorf("%q: error %v, the library says ok=%v %v", want.In, err, want.OK, want.Encode)
			continue
		}
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Pos < 0 || e.Pos > len(want.In) {
				t.Errorf("%q: bad error %#v", want.In, err)
			}
			continue
		}
		if got.Len() != want.Count {
			t.Errorf("%q: %d hosts, want %d", want.In, got.Len(), want.Count)
			continue
		}
		if got.String() != want.Encode {
			t.Errorf("%q: written %q, want %q", want.In, got, want.Encode)
		}
		if u := got.Uniq().String(); u != want.Uniq {
			t.Errorf("%q: uniq %q, want %q", want.In, u, want.Uniq)
		}
		if want.Last != "" && got.At(got.Len()-1) != want.Last {
			t.Errorf("%q: last %q, want %q", want.In, got.At(got.Len()-1), want.Last)
		}
		for i, h := range slices.Concat(want.Hosts, want.Head) {
			if got.At(i) != h {
				t.Errorf("%q: host %d is %q, want %q", want.In, i, got.At(i), h)
			}
		}
	}
	if lines.Err() != nil || n < 450 {
		t.Errorf("%d recorded answers, %v", n, lines.Err())
	}
}
