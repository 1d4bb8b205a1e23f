// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/module/sched/reserve"
	"flux-burrow/t/embed"
)

// maintenance is the payload of a reservation that begins in so many seconds.
func (s *site) maintenance(name string, in float64) string {
	return fmt.Sprintf(`{"name":"%s","nodes":"0-1","start":%f,"duration":3600}`, name, s.in.Now()+in)
}

// reserved names what the scheduler has.
func (s *site) reserved() string {
	s.t.Helper()
	text, err := s.in.RPC(0, 0, "sched-burrow.reserve-list", "{}")
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, v := range gjson.Get(text, "reservations.#.name").Array() {
		names = append(names, v.Str)
	}
	return strings.Join(names, " ")
}

// Reservations are the owner's to make, outlive the module and the broker, and
// go when their time is over.
func TestSchedulerReservations(t *testing.T) {
	bothWays(t, func(t *testing.T, hooks bool) {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, hooks)
		if text, err := s.in.RPC(0, 0, "sched-burrow.reserve-add", s.maintenance("a", 7200)); err != nil || gjson.Get(text, "ranks").Str != "0-1" {
			t.Fatalf("%s %v", text, err)
		}
		for topic, payload := range map[string]string{"add": s.maintenance("b", 0), "list": "{}", "remove": `{"name":"a"}`} {
			if _, err := s.in.Guest(0, 1234).Call(0, "sched-burrow.reserve-"+topic, payload); !errors.Is(err, syscall.EPERM) {
				t.Errorf("%s of a guest: %v", topic, err)
			}
		}
		if _, err := s.in.RPC(0, 0, "sched-burrow.reserve-add", s.maintenance("b", 7000)); !errors.Is(err, syscall.EEXIST) || !strings.Contains(err.Error(), "the reservation a from") {
			t.Errorf("one too many: %v", err)
		}
		s.reload()
		if got := s.reserved(); got != "a" {
			t.Errorf("after the reload: %q", got)
		}
		s.in.Advance(time.Second)
		s.brokerKilled()
		if got := s.reserved(); got != "a" {
			t.Errorf("after the restart: %q", got)
		}
		s.in.Advance(4 * time.Hour)
		if text, _ := s.in.KVSGet(reserve.Key); s.reserved() != "" || gjson.Get(text, "reservations.#").Int() != 0 {
			t.Errorf("when it is over: %q; KVS: %s", s.reserved(), text)
		}
		s.end()
	})
}

// Killed after each number of steps while one is made: what was answered is
// there, and what is there is whole.
func TestSchedulerKilledInReserve(t *testing.T) {
	for n, busy := 0, true; busy; n++ {
		s := newSite(t, embed.Options{Size: 4, Cores: 4}, true)
		s.m.Unload()
		s.in.Settle()
		s.process()
		s.want("state", "ready")
		answers := 0
		s.in.Client(0).Request(0, "sched-burrow.reserve-add", s.maintenance("a", 60), 0, func(r embed.Response) {
			if r.Errno == 0 {
				answers++
			}
		})
		s.steps(n)
		busy = answers == 0
		s.killed()
		s.load()
		s.in.Settle()
		if got := s.reserved(); got != "a" && (got != "" || answers > 0) {
			t.Errorf("after %d steps: %q, %d answers", n, got, answers)
		}
		s.end()
		if n > 200 {
			t.Fatal("no answer")
		}
	}
}
