// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"encoding/json"
	"testing"
)

func FuzzRead(f *testing.F) {
	for _, r := range recordedR(f) {
		f.Add([]byte(r.In))
	}
	eachLine(f, "fluxion-rv1-jgf-pairs.jsonl", func(line []byte) {
		var pair struct{ R json.RawMessage }
		if err := json.Unmarshal(line, &pair); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(pair.R))
	})
	f.Add([]byte(spaced))
	f.Add([]byte(doc(`[{"rank":"0-3","children":{"core":"0-7"}},{"rank":"2-5","children":{"core":"6-9"}}]`, `,"nodelist":["n[0-5]"]`)))
	f.Add([]byte(`{"version":1,"execution":{"R_lite":[{"r\u0061nk":"0","children":{"\ud83d\ude00":"0"}}]}}`))
	inv := NewInventory(mustRead(f, doc(`[{"rank":"0-3","children":{"core":"0-7","gpu":"0-1"}}]`, `,"nodelist":["tioga[10-13]"]`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ReadLimits(in, Limits{MaxRanks: 5000, MaxIDs: 5000})
		if r == nil || r.Broken != (err != nil) {
			t.Fatalf("%+v %v", r, err)
		}
		if err != nil {
			_ = err.Error()
		}
		for _, w := range r.Warnings {
			_ = w.Error()
		}
		if m := inv.Map(r); !inv.Set().Contains(m.Set) {
			t.Fatalf("mapped %s", m.Set)
		}
		if err != nil {
			return
		}
		if !json.Valid(in) {
			t.Fatal("taken though it is not JSON")
		}
		text := r.Encode()
		back, err := Read(text)
		if err != nil && !r.Nodelist.Bracketed() {
			t.Fatalf("%s is written %s: %v", in, text, err)
		}
		if !back.Set.Equal(r.Set) || back.Expiration != r.Expiration || back.NSlots != r.NSlots {
			t.Fatalf("%s is written %s, which reads as %s", in, text, back.Set)
		}
		edited, err := SetExpiration(in, 12345)
		if err != nil {
			return // a repeated key
		}
		if e, err := Read(edited); err != nil || e.Expiration != 12345 || !e.Set.Equal(r.Set) {
			t.Fatalf("%s with another expiration is %s: %v", in, edited, err)
		}
	})
}

// FuzzValidate compares the check of JSON with the one of the standard library,
// which is laxer in few things only.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2.5e-3,-0,"a\u00e9\n"]`, `{"a":{"b":[null,true,false]}}`, `[01]`, `"\ud800"`, `1e999`, "\"\x01\"", "[1,]", `{"a"}`, `nul`, `"\`, `{"a":1,}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		err := validate(in)
		if err == nil && !json.Valid(in) {
			t.Fatalf("%q is not JSON", in)
		}
		if err != nil {
			if e := err.(*syntaxError); e.pos < 0 || e.pos > len(in) {
				t.Fatalf("%q: %v", in, err)
			}
			return
		}
		// What passed can be walked, to the same values.
		n := root(in)
		var walk func(n node)
		walk = func(n node) {
			switch n.kind() {
			case '{':
				n.object(func(key, value node) {
					var want string
					if json.Unmarshal(key.raw(), &want) != nil || unquote(key.raw()) != want || !key.is(want) {
						t.Fatalf("key %s of %q", key.raw(), in)
					}
					walk(value)
				})
			case '[':
				n.array(func(_ int, value node) { walk(value) })
			default:
				if !json.Valid(n.raw()) {
					t.Fatalf("value %q of %q", n.raw(), in)
				}
			}
		}
		walk(n)
	})
}
