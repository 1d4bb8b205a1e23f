// SPDX-License-Identifier: LGPL-3.0-or-later

package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"flux-burrow/hooks/phase"
)

// fromTOML gives what the broker makes of a configuration file.
func fromTOML(t *testing.T, text string) []byte {
	t.Helper()
	var o map[string]any
	if _, err := toml.Decode(text, &o); err != nil {
		t.Fatalf("the test's own TOML: %v", err)
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	full := Default()
	full.Enable = false
	full.EnvironmentTimeout = 30 * time.Minute
	full.ServiceTimeout = 1500 * time.Millisecond
	full.OnFailure = Raise
	full.Tolerate = 2
	full.Services = []Service{
		{Unit: "a.service", Up: phase.SetOf(phase.Idle, phase.Mount, phase.Unmount)},
		{Unit: "b@1.service"},
	}
	full.Control = Control{
		Method: Command,
		Start:  []string{"flux-imp", "run", "burrow-start"},
		Stop:   []string{"flux-imp", "run", "burrow-stop"},
		Status: []string{"systemctl", "is-active", "{{unit}}"},
	}
	rabbit := Default()
	rabbit.EnvironmentTimeout = 1800 * time.Second
	override := Default()
	override.EnvironmentTimeout = 0
	for _, c := range []struct {
		name, toml string
		want       *Config
	}{
		{"empty", "", Default()},
		{"empty table", "[burrow]", Default()},
		{"others' tables", "[kvs]\nx = 1\n[rabbit]\nsetup_timeout = 4", Default()},
		{"rabbit", "[rabbit]\nprolog_timeout = 1800", rabbit},
		{"rabbit FSD", "[rabbit]\nprolog_timeout = \"30m\"", rabbit},
		{"override", "[rabbit]\nprolog_timeout = 1800\n[burrow]\nenvironment-timeout = \"0\"", override},
		{"full", `
[burrow]
enable = false
environment-timeout = "30m"
service-timeout = "1500ms"
on-failure = "raise"
tolerate = 2
[[burrow.services]]
unit = "a.service"
up = ["idle", "mount", "unmount"]
[[burrow.services]]
unit = "b@1.service"
up = []
[burrow.control]
method = "command"
start  = ["flux-imp", "run", "burrow-start"]
stop   = ["flux-imp", "run", "burrow-stop"]
status = ["systemctl", "is-active", "{{unit}}"]
`, full},
	} {
		got, err := Parse(fromTOML(t, c.toml))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ toml, want string }{
		{"burrow = 3", "burrow is 3: it takes a table"},
		{"[burrow]\nservice-timout = \"1s\"", "burrow.service-timout is an unknown key"},
		{"[burrow]\nenable = 1", "burrow.enable is 1: it takes true or false"},
		{"[burrow]\nservice-timeout = 60", "burrow.service-timeout is 60"},
		{"[burrow]\nservice-timeout = \"0\"", "burrow.service-timeout is \"0\": it takes a duration above 0"},
		{"[burrow]\nservice-timeout = \"-3s\"", "burrow.service-timeout is \"-3s\""},
		{"[burrow]\nenvironment-timeout = \"5w\"", "burrow.environment-timeout is \"5w\""},
		{"[burrow]\non-failure = \"panic\"", "burrow.on-failure is \"panic\": it takes one of drain, raise, ignore"},
		{"[burrow]\ntolerate = -1", "burrow.tolerate is -1"},
		{"[burrow]\ntolerate = 1.5", "burrow.tolerate is 1.5"},
		{"[burrow]\nservices = \"a\"", "burrow.services is \"a\""},
		{"[[burrow.services]]\nunit = \"a\"", "burrow.services[0].up is missing"},
		{"[[burrow.services]]\nup = []", "burrow.services[0].unit is missing"},
		{"[[burrow.services]]\nunit = \"a/b\"\nup = []", "burrow.services[0].unit is \"a/b\""},
		{"[[burrow.services]]\nunit = \"--now\"\nup = []", "may not begin with '-'"},
		{"[[burrow.services]]\nunit = \"\"\nup = []", "burrow.services[0].unit is \"\""},
		{"[[burrow.services]]\nunit = \"a\"\nup = [\"sleep\"]", "burrow.services[0].up[0] is \"sleep\""},
		{"[[burrow.services]]\nunit = \"a\"\nup = []\n[[burrow.services]]\nunit = \"a\"\nup = []", "burrow.services[1].unit is \"a\", which is there already"},
		{"[burrow.control]\nmethod = \"ssh\"", "burrow.control.method is \"ssh\""},
		{"[burrow.control]\nmethod = \"command\"\nstart = [\"a\"]", "burrow.control.stop is missing"},
		{"[burrow.control]\nmethod = \"command\"\nstart = []\nstop = [\"a\"]", "burrow.control.start is empty"},
		{"[burrow.control]\nstart = [\"a\"]", "burrow.control.start is for method \"command\" only"},
		{"[rabbit]\nprolog_timeout = \"soon\"", "rabbit.prolog_timeout is \"soon\""},
		{"[rabbit]\nprolog_timeout = -1", "rabbit.prolog_timeout is -1"},
	} {
		_, err := Parse(fromTOML(t, c.toml))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.toml, err, c.want)
		}
	}
	_, err := Parse(fromTOML(t, "[burrow]\nx = 1\ntolerate = -1"))
	if err == nil || !strings.Contains(err.Error(), "burrow.x") || !strings.Contains(err.Error(), "burrow.tolerate") {
		t.Errorf("two faults are not reported together: %v", err)
	}
}

func TestParseFSD(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "60": time.Minute, "1.5s": 1500 * time.Millisecond, "2m": 2 * time.Minute,
		"100ms": 100 * time.Millisecond, "1h": time.Hour, "2d": 48 * time.Hour, "infinity": 0, ".5": 500 * time.Millisecond,
	} {
		if got, err := ParseFSD(in); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "s", "-1", "1x", "nan", "0x10", "1 s", "1ss", "infs"} {
		if got, err := ParseFSD(in); err == nil {
			t.Errorf("%q: %v, want an error", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"burrow":{"services":[{"unit":"a","up":["idle"]}],"control":{"method":"systemd"}}}`))
	f.Add([]byte(`{"rabbit":{"prolog_timeout":1e99}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if c, err := Parse(in); err == nil && c.ServiceTimeout <= 0 {
			t.Errorf("%s: a service-timeout of %v", in, c.ServiceTimeout)
		}
	})
}
