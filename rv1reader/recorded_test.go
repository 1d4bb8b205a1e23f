// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-multierror"
)

// eachLine calls f for each JSON line of a file in testdata.
func eachLine(t testing.TB, name string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

type recorded struct {
	Name, In, Short string
	RC              int
	Out             json.RawMessage
}

func recordedR(t testing.TB) (all []recorded) {
	eachLine(t, "library-R.jsonl", func(line []byte) {
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	})
	if len(all) < 40 {
		t.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

// loose parses JSON for a comparison that does not see the order of keys.
func loose(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// dropBare takes entries without children out of R_lite: flux-core does not
// write them, and then can't read its own nodelist.
func dropBare(v any) any {
	if top, ok := v.(map[string]any); ok {
		ex := top["execution"].(map[string]any)
		kept := []any{}
		for _, e := range ex["R_lite"].([]any) {
			if len(e.(map[string]any)["children"].(map[string]any)) > 0 {
				kept = append(kept, e)
			}
		}
		ex["R_lite"] = kept
	}
	return v
}

func TestRecorded(t *testing.T) {
	for _, want := range recordedR(t) {
		t.Run(want.Name, func(t *testing.T) {
			r, err := Read([]byte(want.In))
			if (err == nil) != (want.RC == 0) {
				t.Fatalf("error %v, flux R decode gives %d", err, want.RC)
			}
			if r.Broken != (err != nil) {
				t.Errorf("Broken is %v", r.Broken)
			}
			if err != nil {
				var many *multierror.Error
				if !errors.As(err, &many) || len(many.Errors) == 0 {
					t.Fatalf("not a multierror: %v", err)
				}
				for _, e := range many.Errors {
					t.Log(e)
				}
				return
			}
			if r.Short() != want.Short {
				t.Errorf("short form %q, want %q", r.Short(), want.Short)
			}
			if d := cmp.Diff(loose(t, want.Out), dropBare(loose(t, r.Encode()))); d != "" {
				t.Errorf("written (-want +got):\n%s", d)
			}
			for _, w := range r.Warnings {
				t.Log("warning:", w)
			}
		})
	}
}
