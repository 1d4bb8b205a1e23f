// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/rv1reader/internal/fluxtest"
)

// oddJSON are values of a key that flux-core does not look into: whether R is
// read with them is a matter of JSON alone.
var oddJSON = []struct {
	value string
	ok    bool
}{
	{`9223372036854775807`, true},
	{`9223372036854775808`, false},
	{`-9223372036854775808`, true},
	{`-9223372036854775809`, false},
	{`1e308`, true},
	{`1e309`, false},
	{`1.0e-400`, true},
	{`-0`, true},
	{`01`, false},
	{`.5`, false},
	{`5.`, false},
	{`+5`, false},
	{`1e`, false},
	{`NaN`, false},
	{`"\u0000"`, false},
	{`"\ud83d\ude00"`, true},
	{`"\ud83d"`, false},
	{`"\ud83dx"`, false},
	{`"\ude00"`, false},
	{`"\ud83d\u0041"`, false},
	{`"\u12"`, false},
	{`"\x41"`, false},
	{"\"\t\"", false},
	{"\"\x7f\"", true},
	{"\"\xff\"", false},
	{"\"\xed\xa0\x80\"", false},
	{"\"é\"", true},
	{`"a`, false},
	{`[1,]`, false},
	{`[,1]`, false},
	{`{"a":1,}`, false},
	{`{1:2}`, false},
	{`{"a" 1}`, false},
	{`{"a":1,"a":2}`, true},
	{`{"":1}`, true},
	{`True`, false},
	{`nulls`, false},
	{" \t\r\n1", true},
	{"\v1", false},
	{strings.Repeat("[", 2046) + strings.Repeat("]", 2046), true},
	{strings.Repeat("[", 2047) + strings.Repeat("]", 2047), true},
	{strings.Repeat("[", 2048) + strings.Repeat("]", 2048), false},
	{strings.Repeat("[", 2046) + "1" + strings.Repeat("]", 2046), true},
	{strings.Repeat("[", 2047) + "1" + strings.Repeat("]", 2047), false},
}

func odd(value string) string {
	return `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]},"x":` + value + `}`
}

func TestOddJSON(t *testing.T) {
	for _, c := range oddJSON {
		if _, err := Read([]byte(odd(c.value))); (err == nil) != c.ok {
			t.Errorf("%.40q: %v, want ok=%v", c.value, err, c.ok)
		}
	}
}

func TestOddJSONAgainstFlux(t *testing.T) {
	flux := fluxtest.Program(t)
	for _, c := range oddJSON {
		if _, err := flux(odd(c.value), "R", "decode"); (err == nil) != c.ok {
			t.Errorf("%.40q: %v, the table says ok=%v", c.value, err, c.ok)
		}
	}
}

// Keys are the same however they are written.
func TestEscapedKeys(t *testing.T) {
	r := mustRead(t, `{"v\u0065rsion":1,"execut\u0069on":{"R_l\u0069te":[{"r\u0061nk":"0\u002d1","childr\u0065n":{"c\u006fre":"0","gp\u0075":"1"}}],`+
		`"nod\u0065list":["n[0\u002d1]"],"prop\u0065rties":{"\u0061":"0"},"expirati\u006fn":5},"schedul\u0069ng":{}}`)
	if got := fmt.Sprint(r.Short(), " ", r.Nodelist, " ", r.PropertyRanks("a"), " ", r.Expiration, " ", string(r.Scheduling)); got != "rank[0-1]/core0,gpu1 n[0-1] 0 5 {}" {
		t.Error(got)
	}
}

// A fault of the text says where.
func TestSyntaxErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":}`:     `at byte 5: '}' where a JSON value belongs`,
		`{"a" 1}`:    `at byte 5: '1' where ':' belongs`,
		`[1 2]`:      `at byte 3: '2' where ',' or ']' belongs`,
		`{"a":1 x`:   `at byte 7: 'x' where ',' or '}' belongs`,
		`{,}`:        `at byte 1: ',' where a key belongs`,
		"\"a\nb\"":   `at byte 2: control character '\n' in a string`,
		`"\u00"`:     `at byte 2: 'u' where a hexadecimal number of four digits belongs`,
		`"ab`:        `at byte 3: the JSON text ends in a string`,
		`[1e999]`:    `at byte 1: number out of range`,
		"[\"\xc3(\"": `at byte 2: not UTF-8`,
		`"\q"`:       `at byte 2: 'q' where the rest of an escape belongs`,
		`-x`:         `at byte 1: 'x' where a digit belongs`,
	} {
		if err := validate([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
