// SPDX-License-Identifier: LGPL-3.0-or-later

package swf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `; Version: 2.2
; MaxNodes: 128 (thin)
;  MaxProcs: 1024

1 0 5 100 8 99.5 -1 16 3600 -1 1 3 1 -1 2 1 -1 -1
; in between
  2  10  -1 -1 -1 -1 -1 32 60 -1 5 3 1 -1 2 1 1 30 ; behind
`

func TestParse(t *testing.T) {
	w, err := Parse(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if w.MaxNodes() != 128 || w.MaxProcs() != 1024 || w.Field("version") != "2.2" || w.Number("MaxJobs") != Unknown {
		t.Errorf("header: %q", w.Header)
	}
	want := []Job{
		{1, 0, 5, 100, 8, 99.5, -1, 16, 3600, -1, 1, 3, 1, -1, 2, 1, -1, -1},
		{2, 10, -1, -1, -1, -1, -1, 32, 60, -1, 5, 3, 1, -1, 2, 1, 1, 30},
	}
	if d := cmp.Diff(want, w.Jobs); d != "" {
		t.Error(d)
	}
	if w.Jobs[0].Size() != 8 || w.Jobs[1].Size() != 32 {
		t.Error("size")
	}
	if j := NewJob(); j.Size() != Unknown || j.Think != Unknown || j.ID != Unknown {
		t.Errorf("new: %v", j)
	}
}

func TestErrors(t *testing.T) {
	good := "1 0 5 100 8 -1 -1 16 3600 -1 1 3 1 -1 2 1 -1 -1"
	for _, c := range []struct{ line, want string }{
		{"1 2 3", "line 3: 3 fields, want 18"},
		{good + " 7", "line 3: 19 fields"},
		{strings.Replace(good, "100", "1o0", 1), `line 3: field 4 (run time): "1o0" is not a number`},
		{strings.Replace(good, "100", "NaN", 1), "field 4 (run time)"},
		{strings.Replace(good, " 8 ", " 8.5 ", 1), `field 5 (processors): "8.5"`},
		{strings.Replace(good, "100", "-3", 1), "field 4 (run time): -3 is below 0"},
	} {
		_, err := Parse(strings.NewReader("; a\n" + good + "\n" + c.line + "\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.line, err, c.want)
		}
	}
}

func TestWrite(t *testing.T) {
	w, err := Parse(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	w.Jobs[1].Submit = 10.125
	var b strings.Builder
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, again); d != "" {
		t.Error(d)
	}
}
