// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"math"
	"strings"
	"testing"
)

const spaced = `{ "version":1,  "execution" : {"R_lite":[ {"rank":"0","children":{"core":"0"}} ], "nodelist" : ["n0"],
	"starttime":1.50, "expiration" : 1796053733.0 , "x":[1, 2] } , "scheduling" : {"graph" : {}}, "attributes":{"user":{"a":1}} }`

// An edit changes what it is to change, and no other byte.
func TestEditsKeepBytes(t *testing.T) {
	raw := []byte(spaced)
	for _, c := range []struct {
		name     string
		edit     func() ([]byte, error)
		old, new string
	}{
		{"expiration", func() ([]byte, error) { return SetExpiration(raw, 1796057333.5) }, "1796053733.0", "1796057333.5"},
		{"no expiration", func() ([]byte, error) { return SetExpiration(raw, 0) }, "1796053733.0", "0"},
		{"large", func() ([]byte, error) { return SetExpiration(raw, 1e21) }, "1796053733.0", "1e+21"},
		{"scheduling", func() ([]byte, error) { return SetScheduling(raw, []byte(`{"a":[1 ]}`)) }, `{"graph" : {}}`, `{"a":[1 ]}`},
	} {
		got, err := c.edit()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if want := strings.Replace(spaced, c.old, c.new, 1); string(got) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
		if string(raw) != spaced {
			t.Errorf("%s: changed its argument", c.name)
		}
	}
	got, err := DeleteScheduling([]byte(spaced))
	if err != nil {
		t.Fatal(err)
	}
	r := mustRead(t, string(got))
	if r.Scheduling != nil || r.Expiration != 1796053733 {
		t.Errorf("after the deletion: %s", got)
	}
	for _, part := range []string{spaced[:strings.Index(spaced, `, "scheduling"`)], `"attributes":{"user":{"a":1}} }`} {
		if !strings.Contains(string(got), part) {
			t.Errorf("the deletion changed %s in\n%s", part, got)
		}
	}
	if again, err := DeleteScheduling(got); err != nil || string(again) != string(got) {
		t.Errorf("deleted again: %v\n%s", err, again)
	}
}

func TestEditsAdd(t *testing.T) {
	bare := `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]}}`
	got, err := SetExpiration([]byte(bare), 7.25)
	if err != nil || mustRead(t, string(got)).Expiration != 7.25 {
		t.Errorf("%s %v", got, err)
	}
	got, err = SetScheduling([]byte(bare), []byte("{}"))
	if err != nil || string(mustRead(t, string(got)).Scheduling) != "{}" {
		t.Errorf("%s %v", got, err)
	}
}

func TestEditsEscapedKeys(t *testing.T) {
	in := `{"e\u0078ecution":{"expirati\u006fn":1},"s\u0063heduling":1}`
	for want, f := range map[string]func() ([]byte, error){
		`{"e\u0078ecution":{"expirati\u006fn":1}}`:                      func() ([]byte, error) { return DeleteScheduling([]byte(in)) },
		`{"e\u0078ecution":{"expirati\u006fn":1},"s\u0063heduling":[]}`: func() ([]byte, error) { return SetScheduling([]byte(in), []byte("[]")) },
		`{"e\u0078ecution":{"expirati\u006fn":22},"s\u0063heduling":1}`: func() ([]byte, error) { return SetExpiration([]byte(in), 22) },
	} {
		if got, err := f(); err != nil || string(got) != want {
			t.Errorf("got %s %v, want %s", got, err, want)
		}
	}
}

func TestEditsRefuse(t *testing.T) {
	for name, f := range map[string]func() ([]byte, error){
		"not JSON":         func() ([]byte, error) { return SetExpiration([]byte(`{"version":`), 1) },
		"not an object":    func() ([]byte, error) { return SetExpiration([]byte(`[]`), 1) },
		"empty":            func() ([]byte, error) { return DeleteScheduling(nil) },
		"NaN":              func() ([]byte, error) { return SetExpiration([]byte(spaced), math.NaN()) },
		"infinite":         func() ([]byte, error) { return SetExpiration([]byte(spaced), math.Inf(1)) },
		"negative":         func() ([]byte, error) { return SetExpiration([]byte(spaced), -1) },
		"a bad key":        func() ([]byte, error) { return SetScheduling([]byte(spaced), []byte(`{"a":}`)) },
		"no key":           func() ([]byte, error) { return SetScheduling([]byte(spaced), nil) },
		"execution is not": func() ([]byte, error) { return SetExpiration([]byte(`{"execution":[1]}`), 1) },
		"repeated":         func() ([]byte, error) { return SetExpiration([]byte(`{"execution":{},"execution":{}}`), 1) },
		"repeated inside": func() ([]byte, error) {
			return SetExpiration([]byte(`{"execution":{"expiration":1,"expiration":2}}`), 1)
		},
		"repeated key": func() ([]byte, error) {
			return SetScheduling([]byte(`{"scheduling":1,"scheduling":2}`), []byte("3"))
		},
	} {
		if got, err := f(); err == nil {
			t.Errorf("%s: no error, got %s", name, got)
		}
	}
}
