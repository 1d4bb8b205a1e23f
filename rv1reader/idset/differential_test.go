// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"flux-burrow/rv1reader/internal/fluxtest"
)

// randomText makes an idset, and damages one in two.
func randomText(r *rand.Rand) string {
	var items []string
	for id, n := 0, r.Intn(7); n >= 0; n-- {
		id += r.Intn(30) * r.Intn(4)
		if r.Intn(60) == 0 {
			id += 1 << (8 + r.Intn(6))
		}
		switch lo := id; r.Intn(3) {
		case 0:
			id += r.Intn(40)
			items = append(items, fmt.Sprintf("%d-%d", lo, id))
		default:
			items = append(items, strconv.Itoa(lo))
		}
		id++
	}
	text := strings.Join(items, ",")
	if r.Intn(4) == 0 {
		text = "[" + text + "]"
	}
	for r.Intn(2) == 0 {
		i := r.Intn(len(text) + 1)
		switch bit := string(",-[]0123456789 a+.\t"[r.Intn(19)]); r.Intn(3) {
		case 0:
			text = text[:i] + bit + text[i:]
		case 1:
			text = text[:i] + text[min(i+1, len(text)):]
		default:
			text = text[:i] + bit + text[min(i+1, len(text)):]
		}
	}
	return text
}

// slow tells whether flux-core would take long: it visits each member, and
// keeps an array of the largest.
func slow(text string) bool {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.ParseUint(f, 10, 64)
		if err == nil && uint32(n) > 1e5 && uint32(n) < 1<<31 {
			return true
		}
	}
	return false
}

// wraps tells whether flux-core would cut an id to 32 bits.
func wraps(text string) bool {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.ParseUint(f, 10, 64); err == nil && n >= 1<<32 {
			return true
		}
	}
	return false
}

func TestAgainstFlux(t *testing.T) {
	r := rand.New(rand.NewSource(22))
	var questions [][]string
	for len(questions) < fluxtest.Number() {
		if text := randomText(r); !slow(text) {
			questions = append(questions, []string{"idset", text})
		}
	}
	taken := 0
	for i, a := range fluxtest.Ask(t, questions) {
		text := questions[i][1]
		s, err := Parse(text)
		switch {
		case (err == nil) != a.OK:
			if err != nil && wraps(text) {
				continue
			}
			t.Errorf("%q: error %v, the library says %+v", text, err, a)
		case a.OK:
			taken++
			if s.String() != a.Out || s.Count() != a.Count {
				t.Errorf("%q: got %s (%d), the library says %s (%d)", text, s, s.Count(), a.Out, a.Count)
			}
		}
	}
	t.Logf("%d strings, %d of them idsets", len(questions), taken)
}

func TestAlgebraAgainstFlux(t *testing.T) {
	r := rand.New(rand.NewSource(23))
	ops := map[string]func(a, b *Set) *Set{
		"union": (*Set).Union, "intersect": (*Set).Intersect, "difference": (*Set).Difference,
	}
	set := func() *Set {
		s := &Set{}
		for range r.Intn(8) {
			lo := r.Intn(60)
			s.AddRange(lo, lo+r.Intn(9))
		}
		return s
	}
	var questions [][]string
	for range fluxtest.Number() {
		op := []string{"union", "intersect", "difference"}[r.Intn(3)]
		questions = append(questions, []string{"idset_op", op, set().String(), set().String()})
	}
	for i, a := range fluxtest.Ask(t, questions) {
		q := questions[i]
		got := ops[q[1]](MustParse(q[2]), MustParse(q[3]))
		if !a.OK || got.String() != a.Out || got.Count() != a.Count {
			t.Errorf("%v: got %s, the library says %+v", q, got, a)
		}
	}
}
