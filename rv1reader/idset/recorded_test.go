// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// stricter lists what flux-core takes and this package refuses, each with the
// reason.
var stricter = map[string]string{
	"4294967296": "flux-core cuts the id to 32 bits and reads 0",
}

func TestRecorded(t *testing.T) {
	f, err := os.Open("testdata/library-idset.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var want struct {
			In, Out            string
			OK                 bool
			Count, First, Last int
		}
		want.First, want.Last = -1, -1
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(want.In)
		if stricter[want.In] != "" {
			want.OK = false
		}
		if (err == nil) != want.OK {
			t.Errorf("%q: error %v, the library says ok=%v", want.In, err, want.OK)
			continue
		}
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Pos < 0 || e.Pos > len(want.In) {
				t.Errorf("%q: bad error %#v", want.In, err)
			}
			continue
		}
		if got.String() != want.Out || got.Count() != want.Count || got.First() != want.First || got.Last() != want.Last {
			t.Errorf("%q: got %s count %d first %d last %d, want %+v", want.In, got, got.Count(), got.First(), got.Last(), want)
		}
	}
	if n < 490 {
		t.Errorf("only %d recorded answers", n)
	}
}
