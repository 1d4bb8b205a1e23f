// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flux-burrow/module/sched/policy"
	"flux-burrow/t/replay/sim"
)

func output(t *testing.T, f flags) string {
	t.Helper()
	f.factor, f.match = 2, "first"
	if f.policy == "" {
		f.policy = "fifo,easy,conservative"
	}
	var b strings.Builder
	if err := f.run(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A workload that is made, written and read again gives the same table.
func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made.swf")
	made := output(t, flags{nodes: 32, jobs: 60, load: 0.9, seed: 3, write: file, policy: "fifo,easy"})
	read := output(t, flags{swf: file, policy: "fifo,easy"})
	if !strings.HasPrefix(made, "32 nodes, 60 jobs (made, load 0.9, seed 3)\n") {
		t.Error(made)
	}
	// All but the title, and what depends on the wall clock.
	figures := func(s string) (out []string) {
		for _, line := range strings.Split(s, "\n")[3:] {
			if words := strings.Fields(line); len(words) > 2 {
				out = append(out, strings.Join(words[:len(words)-2], " "))
			}
		}
		return out
	}
	a, b := figures(made), figures(read)
	if len(a) != 4 || strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("made:\n%s\nread:\n%s", made, read)
	}
	var rows []row
	if err := json.Unmarshal([]byte(output(t, flags{swf: file, jobs: 20, json: true})), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].Name != "fifo" || rows[2].Jobs != 20 || rows[1].Utilisation <= 0 {
		t.Errorf("%+v", rows)
	}
}

func TestRefused(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.swf")
	if err := os.WriteFile(bad, []byte("; no size\n1 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    flags
		want string
	}{
		{flags{policy: "best"}, `policy="best"`},
		{flags{policy: "easy", swf: bad}, "bad.swf: line 2: 2 fields"},
		{flags{policy: "easy", swf: bad + ".none"}, "no such file"},
		{flags{policy: "easy", match: "odd", jobs: 2, load: 1}, "odd"},
		{flags{policy: "easy", flux: true, jobs: 2, load: 1, schedulers: "slurm"}, `scheduler "slurm"`},
	} {
		if err := c.f.run(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestShrink(t *testing.T) {
	jobs := []sim.Job{{ID: 1, Nodes: 1, Submit: 0, Run: 1, Limit: 60}, {ID: 2, Nodes: 1, Submit: 1e6, Run: 1e5, Limit: 5e4}}
	if scale := (&flags{}).shrink(jobs); scale != 1e4 {
		t.Errorf("scale %g", scale)
	}
	want := []sim.Job{{ID: 1, Nodes: 1, Submit: 0, Run: 0.001, Limit: 0.506}, {ID: 2, Nodes: 1, Submit: 100, Run: 5, Limit: 5.5}}
	for i := range want {
		if jobs[i] != want[i] {
			t.Errorf("%+v, want %+v", jobs[i], want[i])
		}
	}
	list, err := (&flags{schedulers: "burrow,fluxion-easy", object: "x.so"}).peers([]policy.Kind{policy.FIFO, policy.Easy})
	if err != nil || len(list) != 3 || list[1].name != "sched-burrow easy" || len(list[2].modules) != 2 {
		t.Errorf("%+v %v", list, err)
	}
}
