// SPDX-License-Identifier: LGPL-3.0-or-later

package jobspec

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func TestCounts(t *testing.T) {
	tests := []struct {
		in   string
		text string
		at   map[int]int // limit: largest count; 0 for none
	}{
		{`4`, "4", map[int]int{3: 0, 4: 4, 9: 4}},
		{`"4"`, "4", map[int]int{3: 0, 4: 4, 9: 4}},
		{`{"min":2}`, "2+", map[int]int{1: 0, 2: 2, 100000: 100000}},
		{`{"min":2,"max":8}`, "2-8", map[int]int{1: 0, 5: 5, 9: 8}},
		{`{"min":2,"max":9,"operator":"+","operand":3}`, "2-9:3", map[int]int{1: 0, 4: 2, 7: 5, 8: 8, 99: 8}},
		{`{"min":2,"max":9,"operator":"*","operand":2}`, "2-9:2:*", map[int]int{3: 2, 7: 4, 8: 8, 99: 8}},
		{`{"min":3,"max":1000,"operator":"^","operand":2}`, "3-1000:2:^", map[int]int{2: 0, 8: 3, 80: 9, 99: 81, 9999: 81}},
		{`"2-8"`, "2-8", map[int]int{1: 0, 5: 5, 9: 8}},
		{`"[2-8:2:*]"`, "2-8:2:*", map[int]int{3: 2, 7: 4, 9: 8}},
		{`"3-3"`, "3", map[int]int{2: 0, 3: 3, 4: 3}},
		{`"2+"`, "2+", map[int]int{77: 77}},
		{`"2+:3"`, "2+:3", map[int]int{77: 77, 76: 74}},
		{`"2+:2:*"`, "2+:2:*", map[int]int{77: 64}},
		{`"1,7-9"`, "1,7-9", map[int]int{0: 0, 1: 1, 6: 1, 8: 8, 20: 9}},
		{`"[1,7-9]"`, "1,7-9", map[int]int{7: 7}},
	}
	for _, tt := range tests {
		c, err := ParseCount(gjson.Parse(tt.in))
		if err != nil {
			t.Errorf("%s: %s", tt.in, err)
			continue
		}
		if c.String() != tt.text {
			t.Errorf("%s: is %s, want %s", tt.in, c, tt.text)
		}
		for limit, want := range tt.at {
			if got, ok := c.Largest(limit); got != want || ok != (want != 0) {
				t.Errorf("%s: largest up to %d is %d %t, want %d", tt.in, limit, got, ok, want)
			}
		}
	}
}

func TestCountsRefused(t *testing.T) {
	for _, in := range []string{
		`0`, `-1`, `1.5`, `1e12`, `null`, `true`, `[1]`, `{}`, `{"max":3}`, `{"min":0}`, `{"min":4,"max":3}`,
		`{"min":1,"max":9,"operator":"/","operand":2}`, `{"min":1,"max":9,"operator":"*","operand":1}`,
		`{"min":1,"max":9,"operator":"^","operand":2}`, `{"min":1,"max":9,"operator":"*"}`, `{"min":1,"step":2}`,
		`""`, `"a"`, `"0"`, `"0-3"`, `"3-1"`, `"1-"`, `"+"`, `"1-3:"`, `"1-3:2:+:4"`, `"1-3:0"`, `"1-3:2:%"`, `"01"`,
		`"1-9999999999"`, `"[1"`, `"1,1"`,
	} {
		if c, err := ParseCount(gjson.Parse(in)); err == nil {
			t.Errorf("%s: read as %s", in, c)
		}
	}
}

// The largest count up to a limit is acceptable, and the next one up is above
// the limit.
func TestLargestIsLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]string{"+", "*", "^"}).Draw(t, "op")
		lo := rapid.IntRange(1, 50).Draw(t, "min")
		hi := rapid.IntRange(lo, 500).Draw(t, "max")
		by := rapid.IntRange(1, 5).Draw(t, "operand")
		if op != "+" {
			by = max(by, 2)
		}
		if op == "^" {
			lo, hi = max(lo, 2), max(hi, 2)
		}
		c, err := ParseCount(gjson.Parse(fmt.Sprintf(`{"min":%d,"max":%d,"operator":"%s","operand":%d}`, lo, hi, op, by)))
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(0, 600).Draw(t, "limit")
		scale := rapid.IntRange(1, 4).Draw(t, "scale")
		want := 0
		for v := lo; v <= hi && v*scale <= limit; {
			want = v * scale
			switch op {
			case "+":
				v += by
			case "*":
				v *= by
			default:
				p := 1
				for range by {
					p *= v
				}
				v = p
			}
		}
		if c, err = c.Scaled(scale); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Largest(limit); got != want || ok != (want > 0) {
			t.Fatalf("%s: largest up to %d is %d %t, want %d", c, limit, got, ok, want)
		}
	})
}
