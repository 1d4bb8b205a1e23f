// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSpaced writes an object of the members with blanks where JSON allows
// them, in any order, with other members between them.
func drawSpaced(t *rapid.T, members map[string]string) string {
	blank := rapid.SampledFrom([]string{"", "", " ", "\n\t", "  "})
	sp := func() string { return blank.Draw(t, "blank") }
	keys := []string{}
	for _, k := range []string{"version", "execution", "R_lite", "nodelist", "expiration", "scheduling"} {
		if members[k] != "" {
			keys = append(keys, k)
		}
	}
	values := map[string]string{}
	for i := range rapid.IntRange(0, 3).Draw(t, "others") {
		k := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{`x`, `a.b`, `*`, `\u0065`, `\"`, `é`, `expiration.`}).Draw(t, "key"), i)
		keys = append(keys, k)
		values[k] = rapid.SampledFrom([]string{`1`, `"a\"}"`, `[ 1 ,{"expiration":3}]`, `{"scheduling": {}}`, `null`, `-0.0e1`, `" "`}).Draw(t, "value")
	}
	var b strings.Builder
	b.WriteString("{" + sp())
	for i, k := range rapid.Permutation(keys).Draw(t, "order") {
		if i > 0 {
			b.WriteString("," + sp())
		}
		v := members[k]
		if v == "" {
			v = values[k]
		}
		b.WriteString(`"` + k + `"` + sp() + ":" + sp() + v + sp())
	}
	return b.String() + "}"
}

// valueAt finds the value of a key, nested as path says.
func valueAt(in []byte, path ...string) node {
	n := root(in)
	for _, name := range path {
		var found node
		n.object(func(key, value node) {
			if key.is(name) {
				found = value
			}
		})
		n = found
	}
	return n
}

// kept tells whether after is before but for one piece: old of it is gone and
// new is there instead.
func kept(before, after []byte, old, new int) bool {
	for i := 0; i+old <= len(before); i++ {
		if bytes.Equal(before[:i], after[:i]) && bytes.Equal(before[i+old:], after[i+new:]) {
			return true
		}
	}
	return false
}

// Whatever stands around the key that an edit changes stays as it is.
func TestEditsKeepOtherBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ex := map[string]string{"R_lite": `[{"rank":"0","children":{"core":"0"}}]`}
		if rapid.Bool().Draw(t, "has expiration") {
			ex["expiration"] = rapid.SampledFrom([]string{"1.50", "0", "7e2"}).Draw(t, "expiration")
		}
		top := map[string]string{"version": "1", "execution": drawSpaced(t, ex)}
		if rapid.Bool().Draw(t, "has scheduling") {
			top["scheduling"] = rapid.SampledFrom([]string{`{ "graph" : [ ] }`, `7`, `"s"`, `null`}).Draw(t, "scheduling")
		}
		in := []byte(drawSpaced(t, top))
		set := func(edit func([]byte) ([]byte, error), value string, path ...string) {
			out, err := edit(in)
			if err != nil {
				t.Fatalf("%v in\n%s", err, in)
			}
			old := valueAt(in, path...)
			switch {
			case old.in != nil:
				want := string(in[:old.start]) + value + string(in[old.end:])
				if string(out) != want {
					t.Fatalf("%s of\n%s\nis set, which gives\n%s", path, in, out)
				}
			case validate(out) != nil || !kept(in, out, 0, len(out)-len(in)) || string(valueAt(out, path...).raw()) != value:
				t.Fatalf("%s is added to\n%s\nwhich gives\n%s", path, in, out)
			}
		}
		set(func(in []byte) ([]byte, error) { return SetExpiration(in, 1796057333.25) }, "1796057333.25", "execution", "expiration")
		set(func(in []byte) ([]byte, error) { return SetScheduling(in, []byte(`{"new": 1}`)) }, `{"new": 1}`, "scheduling")
		out, err := DeleteScheduling(in)
		if err != nil || validate(out) != nil || !kept(in, out, len(in)-len(out), 0) || valueAt(out, "scheduling").in != nil ||
			top["scheduling"] == "" && !bytes.Equal(in, out) {
			t.Fatalf("scheduling is deleted from\n%s\nwhich gives\n%s\n%v", in, out, err)
		}
	})
}
