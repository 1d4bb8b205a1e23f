// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// TestCommandSystemctl has method "command" run a real systemctl, with the
// status command that the example configuration shows.
func TestCommandSystemctl(t *testing.T) {
	text, err := os.ReadFile("../../etc/burrow.toml")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^# (status = .*)$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("no status command in the example")
	}
	var example struct{ Status []string }
	if _, err := toml.Decode(string(line[1]), &example); err != nil {
		t.Fatal(err)
	}
	m := bootMachine(t)
	inside := func(argv ...string) []string {
		return append([]string{"nsenter", "-t", strconv.Itoa(m.PID), "-a", "-r", "-w"}, argv...)
	}
	n := newCommandNode(t, map[Verb][]string{
		Start:  inside("systemctl", "start", "--", "{{unit}}"),
		Stop:   inside("systemctl", "stop", "--", "{{unit}}"),
		Status: inside(example.Status...),
	})
	n.mustBe("sleeper.service", Down)
	n.mustDo(Start, "sleeper.service")
	n.mustBe("sleeper.service", Up)
	n.mustDo(Stop, "sleeper.service")
	n.mustBe("sleeper.service", Down)
	n.mustBe("nowhere.service", Absent)
	for _, verb := range []Verb{Start, Stop} {
		if err := n.do(verb, "nowhere.service"); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s of an absent unit: %v", verb, err)
		}
	}
	err = n.do(Start, "failing.service")
	t.Logf("%v", err)
	wantError(t, err, "start failing.service: nsenter: exit status 1: ")
	if strings.Contains(err.Error(), "\n") {
		t.Error("the reason is more than a line")
	}
	n.mustBe("failing.service", Down)
}
