// SPDX-License-Identifier: LGPL-3.0-or-later

package wire

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"flux-burrow/hooks/phase"
	"flux-burrow/rv1reader/idset"
)

func TestDecodeSet(t *testing.T) {
	r, err := DecodeSet(`{"ranks":"0-3,7","phase":"mount","id":42,"gen":1796051792000001}`)
	if err != nil || r.Ranks.String() != "0-3,7" || r.Phase != phase.Mount || r.ID != 42 || r.Gen != 1796051792000001 {
		t.Fatalf("%+v, %v", r, err)
	}
	for in, want := range map[string]string{
		``:                                    "there is none",
		`[]`:                                  "cannot unmarshal",
		`{"phase":"run","id":1,"gen":1}`:      `"ranks" is missing`,
		`{"ranks":"0","id":1,"gen":1}`:        `"phase" is missing`,
		`{"ranks":"0","phase":"run","gen":1}`: `"id" is missing`,
		`{"ranks":"0","phase":"run","id":1}`:  `"gen" is missing`,
		`{"ranks":"","phase":"run","id":1,"gen":1}`:                 `"ranks" is empty`,
		`{"ranks":"x","phase":"run","id":1,"gen":1}`:                `x`,
		`{"ranks":null,"phase":"run","id":1,"gen":1}`:               `"ranks" is missing`,
		`{"ranks":"0","phase":"up","id":1,"gen":1}`:                 `no such phase "up"`,
		`{"ranks":"0","phase":"run","id":-1,"gen":1}`:               `cannot unmarshal`,
		`{"ranks":"0","phase":"run","id":0,"gen":1}`:                `"id" is 0`,
		`{"ranks":"0","phase":"run","id":1,"gen":1,"unit":"sh"}`:    `unknown field "unit"`,
		`{"ranks":"0","phase":"run","id":1,"gen":1,"Phase":"up"}`:   `no such phase "up"`,
		`{"ranks":"0","phase":"run","id":1,"gen":1,"Phase":"idle"}`: `unknown field "Phase"`,
		`{"ranks":"0","phase":"run","id":1,"gen":1}{}`:              `more than one`,
	} {
		_, err := DecodeSet(in)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, syscall.EPROTO) {
			t.Errorf("%s: %v, want EPROTO with %s", in, err, want)
		}
	}
}

func TestMerge(t *testing.T) {
	var all SetResponse
	for i := range 10 {
		all.Merge(SetResponse{
			Failed:  []RankText{{idset.New(i), "down"}, {idset.New(i + 100), "lost"}},
			Waiting: idset.New(i * 2),
		})
	}
	if got := Encode(all); got != `{"failed":[{"ranks":"0-9","reason":"down"},{"ranks":"100-109","reason":"lost"}],"skipped":null,"waiting":"0,2,4,6,8,10,12,14,16,18"}` {
		t.Error(got)
	}
	if got := all.FailedRanks().String(); got != "0-9,100-109" {
		t.Error(got)
	}
}

func FuzzDecodeSet(f *testing.F) {
	f.Add(`{"ranks":"0-3","phase":"mount","id":42,"gen":1}`)
	f.Fuzz(func(t *testing.T, in string) {
		r, err := DecodeSet(in)
		if err == nil && (r.Ranks.Empty() || (r.ID == 0 && r.Phase != phase.Idle)) {
			t.Errorf("%s was taken: %+v", in, r)
		}
	})
}
