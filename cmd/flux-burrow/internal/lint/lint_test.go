// SPDX-License-Identifier: LGPL-3.0-or-later

package lint

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestR(t *testing.T) {
	good := R("r", []byte(`{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3","gpu":"0"}}],`+
		`"nodelist":["n[0-1]"],"properties":{"gpu":"0-1"}},"scheduling":{}}`))
	if want := "r: ok: 2 nodes, hosts n[0-1], rank[0-1]/core[0-3],gpu0, property gpu on 2 nodes, a scheduling key of 2 bytes\n"; good.Faults != 0 || good.Text != want {
		t.Errorf("%+v, want %s", good, want)
	}
	// Lines and columns count from 1, and the place is that of the value.
	bad := R("r", []byte("\n\n  {\"version\":2,\n\"execution\":7}"))
	for _, want := range []string{"r:3:14: error: version: 2: ", "r:4:13: error: execution: 7: "} {
		if !strings.Contains(bad.Text, want) {
			t.Errorf("%s has no %s", bad.Text, want)
		}
	}
	if bad.Faults != 2 || strings.Contains(bad.Text, "ok") {
		t.Errorf("%+v", bad)
	}
	// What has no place has the name alone.
	if none := R("r", []byte(`{}`)); !strings.Contains(none.Text, "error: version: missing") {
		t.Error(none.Text)
	}
}

// Of many faults not all are listed, all are counted.
func TestManyFaults(t *testing.T) {
	r := R("r", []byte(`{"version":1,"execution":{"R_lite":[`+strings.Repeat("7,", 999)+`7]}}`))
	if lines := strings.Count(r.Text, "error: "); r.Faults != 1000 || lines > 100 || !strings.Contains(r.Text, " more faults\n") {
		t.Errorf("%d faults, %d lines: %s", r.Faults, lines, r.Text)
	}
}

func TestLongR(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"version":1,"execution":{"R_lite":[`)
	for i := range 200 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"rank":"` + strconv.Itoa(i*2) + `","children":{"core":"0-` + strconv.Itoa(i+1) + `"}}`)
	}
	b.WriteString(`]}}`)
	r := R("r", []byte(b.String()))
	if r.Faults != 0 || len(r.Text) > 3*maxSummary || !strings.Contains(r.Text, "...") {
		t.Errorf("%+v", r)
	}
}

// A few bytes that name four million hosts cost no more than others.
func TestHostileR(t *testing.T) {
	long := strings.Repeat("x", 200)
	in := `{"version":1,"execution":{"R_lite":[{"rank":"0-4194303","children":{"core":"0"}}],` +
		`"nodelist":["a[0-1048575]` + long + `","b[0-1048575]` + long + `","c[0-1048575]` + long + `","d[0-1048575]` + long + `"]}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := R("r", []byte(in))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; r.Faults != 0 || len(r.Text) > 3*maxSummary || used > 1<<20 {
		t.Errorf("%d bytes cost %d bytes of memory: %+v", len(in), used, r)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		toml, want string
		faults     int
	}{
		{"", "c: ok: no [burrow] table, so the defaults: method systemd; on-failure drain; tolerate 0; service-timeout 1m; " +
			"no limit on the wait for dws_environment; nnf-clientmount.service up in mount, unmount\n", 0},
		{"[rabbit]\nprolog_timeout = 1800\n", "environment-timeout 30m;", 0},
		{"[burrow]\nenable = false\n", "c: ok: disabled\n", 0},
		{"[burrow]\n[[burrow.services]]\nunit=\"a.service\"\nup=[]\n", "a.service up never\n", 0},
		{"[burrow]\nx = 1\ny = 2\n", "c: error: burrow.x is an unknown key: ", 2},
		{"[burrow]\nservice-timeout = \"0\"\n", "c: error: burrow.service-timeout is \"0\": ", 1},
		{"x = inf\n", "c: error: json: unsupported value", 1},
		{"x = \n", "c:1:", 1},
	} {
		r := TOML("c", []byte(c.toml))
		if r.Faults != c.faults || !strings.Contains(r.Text, c.want) {
			t.Errorf("%q: %+v, want %d, %s", c.toml, r, c.faults, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", time.Hour + time.Minute: "1h1m",
		10 * time.Minute: "10m", 1500 * time.Millisecond: "1.5s", 20 * time.Hour: "20h",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %s, want %s", d, got, want)
		}
	}
}
