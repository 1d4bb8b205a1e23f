// SPDX-License-Identifier: LGPL-3.0-or-later

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flux-burrow/cmd/flux-burrow/internal/cli"
)

// program is the binary that TestMain builds.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "flux-burrow-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "flux-burrow")
	code := 1
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// run runs the program with no Flux to be found.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.Env = []string{"PATH=/nonexistent", "LANG=C.UTF-8", "COLUMNS=100"}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const (
	goodR = `{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],` +
		`"nodelist":["n[0-1]"],"starttime":0,"expiration":0}}`
	badR = "{\"version\":1,\n \"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"3-1\"}}],\n \"nodelist\":[\"n[0-\"]}}"
)

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := file("good.json", goodR), file("bad.json", badR)
	noHosts := file("nohosts.json", `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]}}`)
	conf := file("good.toml", "[burrow]\non-failure = \"raise\"\nservice-timeout = \"90s\"\n")
	badConf := file("bad.toml", "[burrow]\non-failure = \"panic\"\ntolerat = 1\n")
	noTOML := file("no.toml", "[burrow\n")
	for _, c := range []struct {
		args           string
		stdin          string
		status         int
		stdout, stderr string // a part of each; "" for nothing at all
	}{
		{"--version", "", 0, "flux-burrow " + cli.Version + "\n", ""},
		{"--help", "", 0, "flux burrow [command]", ""},
		{"status --help", "", 0, "flux burrow status [--json] [RANKS]", ""},
		{"", "", 2, "", "flux-burrow: a command is missing\nTry 'flux burrow --help'.\n"},
		{"frobnicate", "", 2, "", "frobnicate: no such command"},
		{"--frobnicate", "", 2, "", "unknown flag: --frobnicate"},
		{"status --frobnicate", "", 2, "", "Try 'flux burrow status --help'."},
		{"status 0 1", "", 2, "", "status: 1: one argument too many"},
		{"status 3-1", "", 2, "", "status: RANKS: idset \"3-1\""},
		{"status []", "", 2, "", "RANKS is empty"},
		{"status 99999999", "", 2, "", "99999999 is no rank"},
		{"--timeout=soon status", "", 2, "", "Flux Standard Duration"},
		{"release", "", 2, "", "release: RANKS is missing"},
		{"release x", "", 2, "", "release: RANKS: idset"},
		{"timeline", "", 2, "", "timeline: JOBID is missing"},
		{"timeline f0", "", 2, "", `timeline: "f0" is no job id`},
		{"reserve", "", 2, "", "reserve: a command is missing: add, list or remove\nTry 'flux burrow reserve --help'.\n"},
		{"reserve make", "", 2, "", "reserve: make: no such command"},
		{"reserve --help", "", 0, "flux burrow reserve [command]", ""},
		{"reserve add --help", "", 0, "flux burrow reserve add NAME --nodes HOSTS|--ranks RANKS|", ""},
		{"reserve add", "", 2, "", "flux-burrow: reserve add: NAME is missing\nTry 'flux burrow reserve add --help'.\n"},
		{"reserve add a b", "", 2, "", "reserve add: b: one argument too many"},
		{"reserve add a", "", 2, "", "reserve add: it takes one of --nodes, --ranks and --requires"},
		{"reserve add a --nodes n0 --ranks 0", "", 2, "", "it takes one of"},
		{"reserve add a --ranks 3-1 --start now --duration 1h", "", 2, "", "reserve add: --ranks: RANKS: idset"},
		{"reserve add a --nodes n0 --duration 1h", "", 2, "", "--start is missing"},
		{"reserve add a --nodes n0 --start now", "", 2, "", "--duration is missing"},
		{"reserve add a --nodes n0 --start soon --duration 1h", "", 2, "", `reserve add: --start "soon": it takes now, +FSD, HH:MM`},
		{"reserve add a --nodes n0 --start now --duration x", "", 2, "", `--duration "x": it takes a Flux Standard Duration`},
		{"reserve add a --nodes n0 --start now --duration inf", "", 2, "", `--duration "inf": a reservation lasts`},
		{"reserve add a --requires a|b --start now --duration 1h", "", 2, "", "--requires: properties: \"a|b\" is not the name"},
		{`reserve add a --requires {"x":[]} --start now --duration 1h`, "", 2, "", "--requires: x: no such operator"},
		{"reserve add a --nodes n0 --start now --duration 1h --users nosuchuser", "", 1, "", "reserve add: --users: user: unknown user nosuchuser"},
		{"reserve add a --nodes n0 --start now --duration 1h --users ,", "", 1, "", `reserve add: --users: "," names nobody`},
		{"reserve list x", "", 2, "", "reserve list: x: one argument too many"},
		{"reserve remove", "", 2, "", "reserve remove: NAME is missing"},
		{"reserve add a --nodes n0 --start now --duration 1h --users root,1000", "", 1, "", "flux-burrow: reserve add: flux-core is not"},
		{"reserve list", "", 1, "", "flux-burrow: reserve list: flux-core is not"},
		{"reserve remove a", "", 1, "", "flux-burrow: reserve remove: flux-core is not"},
		{"check a b", "", 2, "", "check: b: one argument too many"},
		{"status", "", 1, "", "flux-burrow: status: flux-core is not installed here, or not found"},
		{"release 0", "", 1, "", "flux-burrow: release: flux-core is not"},
		{"timeline 1", "", 1, "", "flux-burrow: timeline: flux-core is not"},
		{"check", "", 1, "", "flux-burrow: check: flux-core is not"},
		{"jgf", "", 1, "", "flux-burrow: jgf: flux-core is not"},

		{"check " + good, "", 0, good + ": ok: 2 nodes, hosts n[0-1], rank[0-1]/core[0-3]\n", ""},
		{"check -", goodR, 0, "standard input: ok: 2 nodes", ""},
		{"check " + bad, "", 1, bad + ":2:56: error: execution.R_lite[0].children.core: \"3-1\": range 3-1 does not rise",
			"flux-burrow: check: " + bad + ": 2 faults\n"},
		{"check " + bad, "", 1, bad + ":3:14: error: execution.nodelist[0]: ", "2 faults"},
		{"check -", "", 1, "standard input:1:1: error: not JSON", "standard input: 1 fault\n"},
		{"check /nonexistent/R", "", 1, "", "flux-burrow: check: open /nonexistent/R: no such file"},
		{"check --config " + conf, "", 0, "on-failure raise; tolerate 0; service-timeout 1m30s", ""},
		{"check --config " + badConf, "", 1, `burrow.on-failure is "panic": it takes one of drain, raise, ignore`, "2 faults"},
		{"check --config " + badConf, "", 1, `error: burrow.tolerat is an unknown key`, "2 faults"},
		{"check --config " + noTOML, "", 1, noTOML + ":2:8: error: ", "1 fault"},
		{"check --config - " + good, "", 0, "standard input: ok: no [burrow] table, so the defaults: method systemd", ""},
		{"check --config " + badConf + " " + bad, "", 1, "error: burrow.tolerat", "bad.json: 2 faults; check: "},

		{"jgf " + good, "", 0, `{"graph":{"nodes":[`, ""},
		{"jgf --whole " + good, "", 0, `"scheduling":{"graph"`, ""},
		{"jgf --cluster tioga -", goodR, 0, `/tioga0/n0/core3`, ""},
		{"jgf --inventory " + good + " " + good, "", 0, `"graph"`, ""},
		{"jgf " + bad, "", 1, "", "flux-burrow: jgf: " + bad + `: execution.R_lite[0].children.core: "3-1"`},
		{"jgf " + noHosts, "", 1, "", "flux-burrow: jgf: the inventory has no nodelist"},
		{"jgf --inventory " + good + " -", `{"version":1,"execution":{"R_lite":[{"rank":"7","children":{"core":"0"}}],"nodelist":["m7"]}}`, 1,
			"", "flux-burrow: jgf: R does not fit the inventory"},

		{"timeline --eventlog /nonexistent/log", "", 1, "", "flux-burrow: timeline: open /nonexistent/log"},
		{"timeline --eventlog -", "", 1, "", "flux-burrow: timeline: eventlog of job standard input: there are no events in it"},
		{"timeline --eventlog - a b", "", 2, "", "b: one argument too many"},
	} {
		out, errs, status := run(t, c.stdin, strings.Fields(c.args)...)
		if status != c.status || !has(out, c.stdout) || !has(errs, c.stderr) {
			t.Errorf("flux-burrow %s: %d\nstdout: %s\nstderr: %s\nwant %d, %q, %q", c.args, status, out, errs, c.status, c.stdout, c.stderr)
		}
	}
}

func has(got, want string) bool {
	if want == "" {
		return got == ""
	}
	return strings.Contains(got, want)
}

func TestTimelineOfAFile(t *testing.T) {
	log := filepath.Join("internal", "chart", "testdata", "logs", "rabbit.jsonl")
	out, errs, status := run(t, "", "timeline", "--eventlog", log, "53150220288")
	if status != 0 || errs != "" || !strings.HasPrefix(out, "rabbit job ƒ2PyhmmR, waited 0.181s, ran 0.960s,") {
		t.Errorf("%d\n%s%s", status, out, errs)
	}
	svg := filepath.Join(t.TempDir(), "out.svg")
	if _, errs, status := run(t, "", "timeline", "--eventlog="+log, "--svg="+svg); status != 0 {
		t.Errorf("%d: %s", status, errs)
	}
	text, err := os.ReadFile(svg)
	if err != nil || !bytes.Contains(text, []byte("Timeline of job rabbit.jsonl")) {
		t.Errorf("%v: %s", err, text)
	}
	if _, errs, status := run(t, "", "timeline", "--eventlog="+log, "--svg=/nonexistent/x.svg"); status != 1 ||
		!strings.HasPrefix(errs, "flux-burrow: timeline: open /nonexistent/x.svg") {
		t.Errorf("%d: %s", status, errs)
	}
}

// The graph is one JSON value, and so is R with it.
func TestJGFIsJSON(t *testing.T) {
	for _, args := range [][]string{{"jgf", "-"}, {"jgf", "--whole", "-"}} {
		out, _, status := run(t, goodR, args...)
		if status != 0 || !json.Valid([]byte(out)) {
			t.Errorf("%v: %d: %s", args, status, out)
		}
	}
}

// The program does not need libflux-core to start.
func TestNotLinked(t *testing.T) {
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("readelf", "-d", program).CombinedOutput()
	if err != nil {
		t.Skipf("skip: no readelf: %v", err)
	}
	if bytes.Contains(out, []byte("flux")) || !bytes.Contains(b, []byte("libflux-core.so.2")) {
		t.Errorf("%s", out)
	}
}

func TestVersion(t *testing.T) {
	ac, err := os.ReadFile(filepath.Join("..", "..", "configure.ac"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "AC_INIT([flux-burrow], [" + cli.Version + "]"; !bytes.Contains(ac, []byte(want)) {
		t.Errorf("configure.ac has no %s", want)
	}
}
