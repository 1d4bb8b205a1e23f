// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"flux-burrow/t/machine"
)

// testMachine is a real systemd that a test has for itself.
type testMachine struct{ *machine.Machine }

const envRole = "BURROW_TEST_CLIENT"

// testUnits are the units inside.
var testUnits = machine.Units{
	Files: map[string]string{
		"sleeper.service": machine.Service("ExecStart=/bin/sleep infinity"),
		"another.service": machine.Service("ExecStart=/bin/sleep infinity"),
		// mini.target names it, so that systemd keeps it, and counts its starts,
		// while it is down; as with a unit that is enabled.
		"limited.service": machine.Service("ExecStart=/bin/sleep infinity"),
		"failing.service": machine.Service("Type=oneshot", "ExecStart=/bin/sh -c 'exit 3'"),
		"oneshot.service": machine.Service("Type=oneshot", "ExecStart=/bin/true"),
		"missing.service": machine.Service("Type=exec", "ExecStart=/nonexistent/program"),
		"crash.service":   machine.Service("Type=oneshot", "ExecStart=/bin/sh -c 'kill -SEGV $$$$'"),
		"slow.service":    machine.Service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/sleep 30"),
		"slowish.service": machine.Service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/sleep 1", "ExecStop=/bin/sleep 1"),
		"hurt.service":    machine.Service("Type=notify", "TimeoutStartSec=300ms", "ExecStart=/bin/sleep infinity"),
		"needs.service":   "[Unit]\nDefaultDependencies=no\nRequires=failing.service\nAfter=failing.service\n[Service]\nExecStart=/bin/sleep infinity\n",
		"cond.service":    "[Unit]\nDefaultDependencies=no\nConditionPathExists=/nonexistent\n[Service]\nExecStart=/bin/sleep infinity\n",
		"bad.service":     "[Unit]\nDefaultDependencies=no\n[Service]\nType=nonsense\n",
		"assert.service":  "[Unit]\nDefaultDependencies=no\nAssertPathExists=/nonexistent\n[Service]\nExecStart=/bin/sleep infinity\n",
		"mini.target":     "[Unit]\nDefaultDependencies=no\nWants=dbus.service\nBefore=limited.service\n",
	},
	Links: map[string]string{
		"masked.service": "/dev/null",
		"alias.service":  "sleeper.service",
	},
}

func TestMain(m *testing.M) {
	machine.Role()
	if os.Getenv(envRole) != "" {
		if err := client(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// bootMachine boots a machine for the test, or skips it where that can't be.
func bootMachine(t *testing.T) *testMachine {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a systemd of its own: not with -short")
	}
	m, err := machine.Boot(t.TempDir(), testUnits)
	var unfit machine.Unfit
	if errors.As(err, &unfit) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	return &testMachine{m}
}

func (m *testMachine) must(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := m.Command(argv...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// copyInto puts a file of this machine into another's /run.
func (m *testMachine) copyInto(t *testing.T, from, name string, mode os.FileMode) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(m.Root+"/run/"+name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
