// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"flux-burrow/rv1reader/internal/fluxtest"
)

// randomText makes a hostlist, and damages one in three.
func randomText(r *rand.Rand) string {
	pick := func(s ...string) string { return s[r.Intn(len(s))] }
	number := func() string { return fmt.Sprintf("%0*d", r.Intn(4), r.Intn(30)*r.Intn(8)) }
	var names []string
	for range 1 + r.Intn(5) {
		name := pick("foo", "n", "tioga", "x-", "", "a1b", "n0", "n00")
		if r.Intn(2) == 0 {
			names = append(names, name+number())
			continue
		}
		var items []string
		for range 1 + r.Intn(3) {
			lo := r.Intn(120)
			w := r.Intn(4)
			item := fmt.Sprintf("%0*d", w, lo)
			if r.Intn(2) == 0 {
				item += fmt.Sprintf("-%0*d", r.Intn(4), lo+r.Intn(6))
			}
			items = append(items, item)
		}
		names = append(names, name+"["+strings.Join(items, ",")+"]"+pick("", "", "", "-ib0", ".x", "-[1-2]"))
	}
	text := strings.Join(names, pick(",", ",", " ", ",,", "\t"))
	for r.Intn(3) == 0 {
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

// known are the messages with which this package refuses what flux-core takes,
// and what the input must look like for it.
var known = []struct {
	message string
	input   *regexp.Regexp
}{
	// A ']' without its '[' gets into the names.
	{"']' without a '['", regexp.MustCompile(`\]`)},
	// So does all that follows a second '[' that is not closed: "n[1,[2],x".
	{"'[' without a ']'", regexp.MustCompile(`\[.*\[`)},
	// Anything between the first number and the '-' is counted as its width.
	{"is not a digit", regexp.MustCompile(`[\[,]\s*\+?\d+[^\d,\]-][^,\]]*-`)},
}

func TestAgainstFlux(t *testing.T) {
	r := rand.New(rand.NewSource(29))
	var questions [][]string
	for range fluxtest.Number() {
		questions = append(questions, []string{"hostlist", randomText(r)})
	}
	taken, stricter := 0, 0
	for i, a := range fluxtest.Ask(t, questions) {
		text := questions[i][1]
		l, err := Parse(text)
		if (err == nil) != a.OK {
			excused := false
			for _, k := range known {
				excused = excused || err != nil && strings.Contains(err.Error(), k.message) && k.input.MatchString(text)
			}
			if stricter++; !excused {
				t.Errorf("%q: error %v, the library says %+v", text, err, a)
			}
			continue
		}
		if !a.OK {
			continue
		}
		taken++
		if l.Len() != a.Count || l.String() != a.Out || l.Uniq().String() != a.Uniq {
			t.Errorf("%q: got %d %s uniq %s, the library says %+v", text, l.Len(), l, l.Uniq(), a)
			continue
		}
		if a.Count > 0 && (l.At(0) != a.First || l.At(l.Len()-1) != a.Last) {
			t.Errorf("%q: from %s to %s, the library says %+v", text, l.At(0), l.At(l.Len()-1), a)
		}
	}
	t.Logf("%d strings, %d of them hostlists, %d refused here only", len(questions), taken, stricter)
}
