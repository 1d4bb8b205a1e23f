// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// client carries out orders, given as verb and unit in turn, as the user that
// it runs as. It is the test binary's role inside a machine.
func client(args []string) error {
	queue := make(chan func(), 10)
	c := NewSystemd(func(f func()) { queue <- f }, SystemdConfig{})
	defer c.Close()
	for ; len(args) >= 2; args = args[2:] {
		var result error
		done := false
		c.Do(Order{Verb: Verb(args[0]), Unit: args[1], Timeout: 10 * time.Second}, func(err error) {
			result, done = err, true
		})
		for !done {
			(<-queue)()
		}
		if result != nil {
			return result
		}
	}
	return nil
}

// TestPolkit gives orders as a user without rights, before and after the rule
// of etc/ is installed for that user.
func TestPolkit(t *testing.T) {
	const user, uid = "nobody", "65534"
	rule, err := os.ReadFile("../../etc/50-flux-burrow.rules")
	if err != nil {
		t.Fatal(err)
	}
	m := bootMachine(t)
	m.copyInto(t, "/proc/self/exe", "client", 0o755)
	order := func(args ...string) string {
		t.Helper()
		cmd := m.Command(append([]string{"/usr/bin/env", envRole + "=client", "/run/client"}, args...)...)
		cmd.Args = append([]string{cmd.Args[0], "-S", uid, "-G", uid}, cmd.Args[1:]...)
		out, err := cmd.CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatalf("client: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	refused := func(verb, unit string) {
		t.Helper()
		out := order(verb, unit)
		t.Log(out)
		wantError(t, fmt.Errorf("%s", out), verb+" "+unit+": not permitted", "50-flux-burrow.rules", "polkit")
	}
	refused("start", "limited.service")
	if out := order("start", "nowhere.service"); out != ErrAbsent.Error() {
		t.Fatalf("without the rule an absent unit is: %s", out)
	}

	if _, err := os.Stat("/usr/lib/polkit-1/polkitd"); err != nil {
		t.Skip("needs polkitd for the rule itself")
	}
	text := strings.ReplaceAll(string(rule), `"flux"`, `"`+user+`"`)
	text = strings.ReplaceAll(text, `"nnf-clientmount.service"`, `"limited.service"`)
	rules := func(text string) {
		t.Helper()
		if err := os.MkdirAll(m.Root+"/etc/polkit-1/rules.d", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.Root+"/etc/polkit-1/rules.d/50-flux-burrow.rules", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m.must(t, "systemctl", "restart", "polkit.service")
	}
	rules(text)
	if out := order("start", "limited.service"); out != "" {
		t.Fatalf("with the rule: %s", out)
	}
	if got := m.must(t, "systemctl", "is-active", "limited.service"); got != "active" {
		t.Fatalf("it is %s", got)
	}
	var many []string // more than systemd's start limit
	for range 8 {
		many = append(many, "stop", "limited.service", "start", "limited.service")
	}
	if out := order(many...); out != "" {
		t.Fatalf("many in a row: %s", out)
	}
	// What the error says without the third verb.
	text = strings.ReplaceAll(text, `, "reset-failed"`, "")
	rules(text)
	out := order(many...)
	t.Log(out)
	wantError(t, fmt.Errorf("%s", out), "start limited.service: systemd's start limit was hit", "reset-failed",
		"StartLimitIntervalSec=0")
	refused("start", "another.service")
	if out, err := m.Command("systemctl", "is-active", "another.service").Output(); err == nil {
		t.Fatalf("another.service is %s", out)
	}
}
