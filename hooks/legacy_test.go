// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"fmt"
	"strings"
	"testing"

	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// inheritor is a fakeHost that inherits.
type inheritor struct {
	*fakeHost
	got []Legacy
}

func (i *inheritor) Inherit(l Legacy) bool {
	i.got = append(i.got, l)
	return true
}

// What is left to the host when the plugin is removed, by the state of the
// window, and what is let go of at once.
func TestInherit(t *testing.T) {
	f := newFakeHost(t)
	host := &inheritor{fakeHost: f}
	cfg := newConfig()
	cfg.Tolerate = 2
	h := New(host, cfg)
	f.pass(cfg.ServiceTimeout)
	f.well()
	rabbit(h, 1, "0-1") // mounting
	f.well()
	stopping := toStopping(f, h, 2, "1-3")
	toStopping(f, h, 3, "3").answer(wire.SetResponse{}) // running
	finished(h, 3)                                      // unmounting
	f.well()
	h.New(runArgs(4, true, "0")) // reading
	h.Close()
	if f.opened() != "1 burrow-prolog, 2 burrow-prolog" {
		t.Errorf("open: %s", f.opened())
	}
	var got []string
	for _, l := range host.got {
		got = append(got, fmt.Sprintf("%d ranks %s unread %t tolerate %d", l.ID, l.Ranks, l.Unread, l.Tolerate))
	}
	want := "1 ranks 0-1 unread true tolerate 2\n" +
		"2 ranks 1-3 unread false tolerate 2\n" +
		"4 ranks 0 unread true tolerate 2"
	if strings.Join(got, "\n") != want {
		t.Errorf("inherited:\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if host.got[0].Gen <= stopping.Gen || host.got[1].Gen != stopping.Gen || host.got[2].Gen <= stopping.Gen {
		t.Errorf("generations %d, %d and %d, the wish had %d", host.got[0].Gen, host.got[1].Gen, host.got[2].Gen, stopping.Gen)
	}
	// With ignore every node may fail.
	host = &inheritor{fakeHost: newFakeHost(t)}
	h = New(host, &config.Config{Enable: true, OnFailure: config.Ignore, Services: cfg.Services, ServiceTimeout: cfg.ServiceTimeout})
	h.New(runArgs(5, false, "0-2"))
	h.Close()
	if len(host.got) != 1 || host.got[0].Tolerate != 3 || host.got[0].Gen != 0 {
		t.Errorf("%+v", host.got)
	}
}

// What is due of a legacy, for every prefix of every life.
func TestDue(t *testing.T) {
	for name, life := range lives {
		var log strings.Builder
		for i, l := range life {
			context := l.context
			if context == "" {
				context = "{}"
			}
			fmt.Fprintf(&log, "{\"timestamp\":%d,\"name\":%q,\"context\":%s}\n", i+1, l.name, context)
			f := readFacts(log.String())
			want := Due{Prolog: f.held(prologName), Epilog: f.held(epilogName)}
			// One that is being mounted is looked at again, else it waits for its
			// services, and one that is over has failed.
			want.Later = want.Prolog && l.rabbit == Mounting && f.held(dwsSetup)
			want.Wait = want.Prolog && !f.cleanup && !want.Later
			if f.cleanup {
				want.Status = 1
			}
			legacy := Legacy{ID: 1, Rabbit: true, Ranks: idset.New(0)}
			if got := legacy.Due(log.String()); got != want {
				t.Errorf("%s up to %d, %s: %+v, want %+v", name, i, l.name, got, want)
			}
			needs := f.holds[dwsEpilog] > 0 || l.rabbit == Mounting && f.holds[dwsSetup] > 0
			if NeedsServices(log.String()) != needs {
				t.Errorf("%s up to %d, %s: needs services: %t", name, i, l.name, !needs)
			}
		}
	}
}
