// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-multierror"
)

// doc is an R with the given R_lite and other members of execution.
func doc(lite, more string) string {
	return fmt.Sprintf(`{"version":1,"execution":{"R_lite":%s%s}}`, lite, more)
}

const okLite = `[{"rank":"0-1","children":{"core":"0-3"}}]`

func faults(t *testing.T, err error) (all []*Fault) {
	t.Helper()
	var many *multierror.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &many) {
		t.Fatalf("not a multierror: %v", err)
	}
	for _, e := range many.Errors {
		f, ok := e.(*Fault)
		if !ok {
			t.Fatalf("not a *Fault: %v", e)
		}
		all = append(all, f)
	}
	return all
}

// Each fault is in the error with its path and its place.
func TestFaults(t *testing.T) {
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for _, c := range []struct {
		name, in string
		want     []string // in this order
	}{
		{"nothing", "", []string{"not JSON: the JSON text ends where a JSON value belongs (at byte 0)"}},
		{"cut", `{"version":1`, []string{"not JSON: the JSON text ends where ',' or '}' belongs (at byte 12)"}},
		{"trailing", `{} x`, []string{"not JSON: text after the end of the JSON value (at byte 3)"}},
		{"deep", `{"a":` + deep + `}`, []string{"values are nested deeper than 2048"}},
		{"array", `[]`, []string{`[]: R is not a JSON object (at byte 0)`}},
		{"empty", `{}`, []string{"version: missing", "execution: missing"}},
		{"version", `{"version":2,"execution":[]}`, []string{
			"version: 2: only version 1 of R is known, an integer (at byte 11)", "execution: []: not an object (at byte 25)"}},
		{"version 1.0", `{"version":1.0,"execution":{"R_lite":[]}}`, []string{"version: 1.0: only version 1"}},
		{"version wraps", `{"version":4294967297,"execution":{"R_lite":[]}}`, []string{"version: 4294967297: only"}},
		{"the one in the documentation", doc(`[{"rank":"0","children":{}},{"rank":"1","children":{}},{"rank":"2","children":{"core":"0-"}}]`, ""), []string{
			`execution.R_lite[2].children.core: "0-": a number is missing at the end (byte 2 of the string, at byte 121)`}},
		{"several", doc(`[{"rank":"0-3,","children":{"core":"3-1","gpu":7}},{"rank":"x"},5]`,
			`,"nodelist":["n[1-"],"nslots":"2","starttime":"now","expiration":null`), []string{
			`execution.R_lite[0].children.core: "3-1": range 3-1 does not rise (byte 0 of the string`,
			`execution.R_lite[0].children.gpu: 7: not a string`,
			`execution.R_lite[1].children: missing`,
			`execution.R_lite[1].rank: "x": 'x' where a number, '-' or ',' belongs (byte 0 of the string`,
			`execution.R_lite[2]: 5: not an object`,
			`execution.nodelist[0]: "n[1-": '[' without a ']' (byte 0`,
			`execution.nslots: "2": not an integer`,
			`execution.starttime: "now": not a number`,
			`execution.expiration: null: not a number`}},
		{"nslots wraps", doc(okLite, `,"nslots":4294967297`), []string{"execution.nslots: 4294967297: not within 32 bits"}},
		{"nslots wraps from below", doc(okLite, `,"nslots":-4294967295`), []string{"execution.nslots: -4294967295: not within 32 bits"}},
		{"what a Fluxion wrote, flux-sched issue 1437", doc(`[{"rank":"4","children":{"core":"0,0-1,1-2,2-95","gpu":"0-3"}}]`, `,"nodelist":["hetchy1004"]`), []string{
			`execution.R_lite[0].children.core: "0,0-1,1-2,2-95": 0 is out of order after 0 (byte 2 of the string, at byte`}},
		{"repeat", doc(`[{"rank":"0-3","children":{"core":"0-7"}},{"rank":"2-5","children":{"core":"6-9","gpu":"0"}}]`, ""), []string{
			`execution.R_lite[1].children.core: {"rank":"2-5"`, `core6-7 of rank 2-3 is in execution.R_lite[0] too`}},
		{"nested ranks", doc("["+repeat(1000, func(i int) string {
			return fmt.Sprintf(`{"rank":"%d-%d","children":{"t%d":"0"}}`, i, 3000-i, i)
		})+"]", ""), []string{"too many entries repeat ranks of others"}},
		{"hosts", doc(okLite, `,"nodelist":["a[0-2]"]`), []string{"execution.nodelist: [\"a[0-2]\"]: 3 hosts for 2 ranks"}},
		{"properties", doc(okLite, `,"properties":{"a|b":"0","c":"0-","d":3,"e":"1-2"}`), []string{
			"execution.properties.a|b: \"a|b\": '|' in the name of a property",
			`execution.properties.c: "0-": a number is missing`,
			`execution.properties.d: 3: not a string`,
			`execution.properties.e: "1-2": ranks 2 are not in R_lite`}},
		{"many ranks", doc(`[{"rank":"0-2147483647","children":{"core":"0"}}]`, ""), []string{
			`execution.R_lite[0].rank: "0-2147483647": 2147483648 ids, the limit is 4194304`}},
		{"too many ranks", doc(`[{"rank":"0-4294967295","children":{"core":"0"}}]`, ""), []string{
			`execution.R_lite[0].rank: "0-4294967295": id is above 2147483647 (byte 2 of the string`}},
		{"many hosts", doc(okLite, `,"nodelist":["a[0-1000000]","b[0-1000000]","c[0-1000000]","d[0-1000000]","e[0-1000000]"]`), []string{
			`execution.nodelist[4]: "e[0-1000000]": more than 194300 hosts (byte 2`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read([]byte(c.in))
			if err == nil {
				t.Fatal("no error")
			}
			if r == nil || !r.Broken {
				t.Error("R is not marked broken")
			}
			text := ""
			for _, f := range faults(t, err) {
				text += f.Error() + "\n"
			}
			rest := text
			for _, w := range c.want {
				i := strings.Index(rest, w)
				if i < 0 {
					t.Fatalf("%q is not in\n%s", w, text)
				}
				rest = rest[i+len(w):]
			}
		})
	}
}

// The offset of a fault is that of the value in the bytes.
func TestFaultOffsets(t *testing.T) {
	in := doc(`[ {"rank" : "0-1" , "children":{"core":"0-3","gpu" : "1-" }} ]`, ` , "nslots":true`)
	_, err := Read([]byte(in))
	all := faults(t, err)
	if len(all) != 2 {
		t.Fatal(err)
	}
	for i, value := range []string{`"1-"`, "true"} {
		if f := all[i]; f.Value != value || f.Offset != strings.Index(in, value) {
			t.Errorf("value %s at %d, want %s at %d", f.Value, f.Offset, value, strings.Index(in, value))
		}
	}
}

// What can be read of a broken R is there.
func TestPartial(t *testing.T) {
	r, err := Read([]byte(doc(`[{"rank":"0-1","children":{"core":"0-3","gpu":"x"}},{"rank":"a","children":{"core":"0"}},{"rank":"4","children":{"core":"1"}}]`,
		`,"nodelist":["n[0-4]"],"properties":{"p":"0-9"},"expiration":5`)))
	if n := len(faults(t, err)); n != 2 {
		t.Errorf("%d faults: ranks that are missing must not be reported again: %v", n, err)
	}
	if r.Short() != "rank[0-1]/core[0-3] rank4/core1" || r.Expiration != 5 || r.Ranks.String() != "0-1,4" {
		t.Errorf("read %s of ranks %s until %v", r.Short(), r.Ranks, r.Expiration)
	}
	if r.Host(0) != "" {
		t.Error("hosts are given to ranks though their number differs")
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no nodelist", doc(okLite, ""), "execution.nodelist: missing"},
		{"no ranks", doc("[]", ""), "names no ranks"},
		{"R_lite", doc("{}", ""), "not an array"},
		{"children", doc(`[{"rank":"0","children":3}]`, ""), "execution.R_lite[0].children: 3: not an object"},
		{"no cores", doc(`[{"rank":"0","children":{"gpu":"0"}}]`, ""), "execution.R_lite[0].children: {\"gpu\":\"0\"}: no cores"},
		{"rank", doc(`[{"rank":"","children":{"core":"0"}}]`, ""), "names no ranks"},
		{"twice", doc(`[{"rank":"0","children":{"core":3,"c\u006fre":"0-1"}}]`, ""), "execution.R_lite[0].children.core: \"0-1\": the key is there more than once"},
		{"nslots", doc(okLite, `,"nslots":-1`), "nslots: -1: less than 1"},
		{"time", doc(okLite, `,"starttime":-5`), "starttime: -5: negative"},
		{"expiration", doc(okLite, `,"starttime":100.5,"expiration":9e1`), "expiration: 9e1: before starttime"},
		{"host", doc(okLite, `,"nodelist":["a","b",5]`), "execution.nodelist[2]: 5: not a string"},
		{"bracket", doc(okLite, `,"nodelist":["a[1-2]-[1-2]"]`), "bracket"},
		{"scheduling", `{"version":1,"execution":{"R_lite":[]},"scheduling":7}`, "scheduling: 7: not an object"},
		{"repeated", `{"version":2,"version":1,"execution":{"R_lite":[]}}`, "version: 1: the key is there more than once"},
	} {
		r, err := Read([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text := ""
		for _, w := range r.Warnings {
			text += w.Error() + "\n"
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in the warnings\n%s", c.name, c.want, text)
		}
	}
	r := mustRead(t, machineR)
	if len(r.Warnings) > 0 {
		t.Errorf("warnings for a good R: %v", r.Warnings)
	}
}

func TestLimits(t *testing.T) {
	in := doc(`[{"rank":"0-9","children":{"core":"0-9"}}]`, `,"nodelist":["n[0-9]"]`)
	for _, c := range []struct {
		limits Limits
		want   string
	}{
		{Limits{}, ""},
		{Limits{MaxRanks: 10, MaxIDs: 10}, ""},
		{Limits{MaxRanks: 9}, "10 ids, the limit is 9"},
		{Limits{MaxIDs: 9}, "10 ids, the limit is 9"},
	} {
		_, err := ReadLimits([]byte(in), c.limits)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
	many := doc("["+strings.Repeat(`{"rank":"x","children":{}},`, 1000)+`{"rank":"x","children":{}}]`, "")
	_, err := ReadLimits([]byte(many), Limits{MaxFaults: 5})
	if all := faults(t, err); len(all) != 6 || all[5].Msg != "996 more faults" || all[5].More != 996 {
		t.Errorf("%d faults, the last: %v", len(all), all[len(all)-1])
	}
	types := ""
	for i := range MaxTypes + 1 {
		types += fmt.Sprintf(`"t%d":"0",`, i)
	}
	_, err = Read([]byte(doc(`[{"rank":"0","children":{`+types+`"core":"0"}}]`, "")))
	if err == nil || !strings.Contains(err.Error(), "more than 256 types") {
		t.Errorf("many types: %v", err)
	}
}
