// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

// decode reads one of the example files, every key of which must be expected.
func decode(t *testing.T, name string, into any) {
	t.Helper()
	md, err := toml.DecodeFile("../../etc/"+name, into)
	if err != nil {
		t.Fatal(err)
	}
	if extra := md.Undecoded(); len(extra) > 0 {
		t.Errorf("%s: unexpected keys %v", name, extra)
	}
}

func TestExampleConfiguration(t *testing.T) {
	var cfg struct {
		Burrow struct {
			Enable             bool
			EnvironmentTimeout string `toml:"environment-timeout"`
			ServiceTimeout     string `toml:"service-timeout"`
			OnFailure          string `toml:"on-failure"`
			Tolerate           int
			Services           []struct {
				Unit string
				Up   []string
			}
			Control struct {
				Method              string
				Start, Stop, Status []string
			}
		}
	}
	decode(t, "burrow.toml", &cfg)
	if s := cfg.Burrow.Services; len(s) != 1 || s[0].Unit != "nnf-clientmount.service" || cfg.Burrow.Control.Method != "systemd" {
		t.Errorf("not the defaults: %+v", cfg)
	}
}

func TestExampleIMP(t *testing.T) {
	type table struct {
		AllowedUsers       []string `toml:"allowed-users"`
		AllowedEnvironment []string `toml:"allowed-environment"`
		Path               string
	}
	var cfg struct{ Run map[string]table }
	decode(t, "imp-burrow.toml", &cfg)
	want := table{[]string{"flux"}, []string{"BURROW_*", "FLUX_JOB_ID"}, "/usr/libexec/flux/burrow-unit"}
	if d := cmp.Diff(map[string]table{"burrow-start": want, "burrow-stop": want}, cfg.Run); d != "" {
		t.Error(d)
	}
}

func TestModprobeFiles(t *testing.T) {
	type module struct {
		Name                      string
		Provides, After, Requires []string
		NeedsConfig               []string `toml:"needs-config"`
		Ranks                     string
		Priority                  int
	}
	for _, name := range []string{"burrow", "sched-burrow"} {
		var cfg struct{ Modules []module }
		decode(t, "modprobe.d/"+name+".toml", &cfg)
		if len(cfg.Modules) != 1 || cfg.Modules[0].Name != name {
			t.Errorf("%s: %+v", name, cfg)
		}
	}
}

// TestExampleScript runs the script that the IMP would run as root, with a
// systemctl that only says what it was asked.
func TestExampleScript(t *testing.T) {
	bin := t.TempDir()
	systemctl := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(verb, unit string) *exec.Cmd {
		cmd := exec.Command("../../etc/burrow-unit")
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "BURROW_VERB=" + verb, "BURROW_UNIT=" + unit}
		return cmd
	}
	systemctl(`echo "$@"`)
	for _, c := range []struct {
		verb, unit, want string
		fails            bool
	}{
		{"start", "nnf-clientmount.service", "reset-failed nnf-clientmount.service\nstart -- nnf-clientmount.service", false},
		{"stop", "nnf-clientmount.service", "stop -- nnf-clientmount.service", false},
		{"stop", "sshd.service", "burrow-unit: BURROW_UNIT=sshd.service: not in the list", true},
		{"stop", "", "not in the list", true},
		{"mask", "nnf-clientmount.service", "burrow-unit: BURROW_VERB=mask: neither start nor stop", true},
	} {
		out, err := run(c.verb, c.unit).CombinedOutput()
		if !strings.Contains(string(out), c.want) || (err != nil) != c.fails {
			t.Errorf("%s %s: %v\n%s", c.verb, c.unit, err, out)
		}
	}

	systemctl(`case $1 in start) exit 5 ;; show) echo Result=exit-code; echo ExecMainStatus=3 ;; esac`)
	out, err := run("start", "nnf-clientmount.service").CombinedOutput()
	if want := "nnf-clientmount.service: Result=exit-code ExecMainStatus=3\n"; string(out) != want || err == nil {
		t.Errorf("a start that fails: %v\n%s", err, out)
	}

	// A signal to the script alone ends systemctl and then the script.
	pidfile := filepath.Join(bin, "pid")
	systemctl("case $1 in stop) echo $$ >" + pidfile + "; exec sleep 1000 ;; esac")
	cmd := run("stop", "nnf-clientmount.service")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	n := &node{t: t}
	n.until("systemctl runs", func() bool { text, _ := os.ReadFile(pidfile); return len(text) > 1 })
	cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if await(t, ended) == nil {
		t.Error("a script that was ended says that all is well")
	}
	text, _ := os.ReadFile(pidfile)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	n.until("systemctl is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}
