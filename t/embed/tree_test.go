// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"fmt"
	"testing"
	"time"

	"flux-burrow/t/embed"
)

// Each link costs its latency, and messages of one sender to one receiver stay
// in order whatever the seed.
func TestLatencyAndOrder(t *testing.T) {
	for topo, hops := range map[string]int{"kary:2": 2, "kary:0": 1, "kary:1": 6, "custom:0,1,2,3,0,5": 2} {
		for _, seed := range []uint64{0, 1, 2} {
			in := embed.New(embed.Options{Size: 7, Topology: topo, Seed: seed, Latency: time.Millisecond})
			loadEcho(t, in, 6)
			begin := in.Elapsed()
			var got []string
			for i := range 20 {
				in.Call(0, 6, "echo.say", fmt.Sprintf(`{"i":%d}`, i), func(r embed.Response) { got = append(got, r.Payload) })
			}
			in.Run(func() bool { return len(got) > 0 }, time.Second)
			if d := in.Elapsed() - begin; d.Round(time.Millisecond) != 2*time.Duration(hops)*time.Millisecond {
				t.Errorf("%s: there and back took %v", topo, d)
			}
			in.Run(func() bool { return len(got) == 20 }, time.Second)
			for i, g := range got {
				if g != fmt.Sprintf(`{"i":%d}`, i) {
					t.Fatalf("%s: answer %d is %s", topo, i, g)
				}
			}
			if s := in.Stats().Links[6]; s.DownRequests != 20 || s.UpResponses != 20 {
				t.Errorf("%s: %+v", topo, s)
			}
			closed(t, in)
		}
	}
}
