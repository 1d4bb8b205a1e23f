// SPDX-License-Identifier: LGPL-3.0-or-later

package jobid

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	const id = 53150220288
	for _, s := range []string{
		"ƒ2PyhmmR", "f2PyhmmR", "53150220288", "0xc60000000", "0XC60000000", "0000.000c.6000.0000",
		"job.0000.000c.6000.0000", " 53150220288\n",
	} {
		got, err := Parse(s)
		if err != nil || got != id {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for s, want := range map[string]string{
		"":                      "it takes a form such as",
		"f":                     "nothing after",
		"ƒ0":                    "no digit of base 58",
		"-1":                    "it takes a form such as",
		"+1":                    "it takes a form such as",
		"1_000":                 "it takes a form such as",
		"0x":                    "it takes a form such as",
		"18446744073709551616":  "larger than 64 bits",
		"0x10000000000000000":   "larger than 64 bits",
		"fzzzzzzzzzzzz":         "larger than 64 bits",
		"0000.0000.0000":        "four groups",
		"0000.0000.0000.000g":   "no group",
		"0000.0000.0000.00000":  "no group",
		"job.0000.0000.00.0000": "no group",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.Uint64().Draw(t, "id"))
		for _, s := range []string{
			id.String(), id.Text(true), id.Decimal(), strings.TrimSuffix(id.Key("R"), ".R"),
		} {
			if got, err := Parse(s); err != nil || got != id {
				t.Fatalf("%s: %d, %v", s, got, err)
			}
		}
	})
	if got, err := Parse(ID(math.MaxUint64).Text(true)); err != nil || got != math.MaxUint64 {
		t.Errorf("%d, %v", got, err)
	}
}
