// SPDX-License-Identifier: LGPL-3.0-or-later

package jsonstr

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "string")
		text := Append([]byte("x"), in)
		var back string
		if err := json.Unmarshal(text[1:], &back); err != nil || back != in || text[0] != 'x' || !utf8.Valid(text) {
			t.Fatalf("%q is written %s, which reads as %q, %v", in, text, back, err)
		}
		if other := Append(nil, []byte(in)); string(other) != string(text[1:]) {
			t.Fatalf("bytes are written %s, a string %s", other, text)
		}
	})
	for in, want := range map[string]string{"n0": `"n0"`, "a\"b\\": `"a\"b\\"`, "\xff": `"\ufffd"`, "\x7f": "\"\x7f\"", "\n": `"\n"`} {
		if got := string(Append(nil, in)); got != want {
			t.Errorf("%q is written %s, want %s", in, got, want)
		}
	}
	b := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(10, func() { Append(b, "tuolumne1001") }); n > 0 {
		t.Errorf("%v allocations for a plain string", n)
	}
}
