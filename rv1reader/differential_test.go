// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flux-burrow/rv1reader/internal/fluxtest"
)

// Of input after the end of R this test says nothing: `flux R` reads one R
// after the other, flux-core itself refuses it.

// randomR makes an R out of parts that are often good, at times lax, at times
// wrong.
func randomR(r *rand.Rand) string {
	pick := func(s ...string) string { return s[r.Intn(len(s))] }
	rare := func(good string, others ...string) string {
		if r.Intn(12) > 0 {
			return good
		}
		return pick(others...)
	}
	ids := func() string {
		lo := r.Intn(4)
		return rare(pick(fmt.Sprintf(`"%d-%d"`, lo, lo+1+r.Intn(3)), fmt.Sprintf(`"%d"`, lo), fmt.Sprintf(`"%d,%d"`, lo, lo+2)),
			`""`, `"2-1"`, `"a"`, `3`, `null`, `"1,"`, `"01"`, `"[0-1]"`, `["0"]`)
	}
	children := func() string {
		members := []string{`"core":` + ids()}
		if r.Intn(2) == 0 {
			members = append(members, `"gpu":`+ids())
		}
		if r.Intn(6) == 0 {
			members = append(members, pick(`"core":"7"`, `"nvme":"0-3"`, `"":"1"`, `"memory":""`))
		}
		return rare("{"+strings.Join(members, ",")+"}", "{}", "[]", "null", `"0"`, "7", `{"gpu":"0"}`)
	}
	var entries []string
	next, count := r.Intn(3), 0
	for range 1 + r.Intn(4) {
		n := 1 + r.Intn(3)
		rank := fmt.Sprintf(`"%d-%d"`, next, next+n)
		if n == 1 {
			rank = fmt.Sprintf(`"%d"`, next)
		} else {
			n++
		}
		count += n
		next += n + r.Intn(2)*r.Intn(2)
		entries = append(entries, rare(`{"rank":`+rare(rank, `""`, `0`, `"0"`, `"0-1"`, `"x"`)+`,"children":`+children()+`}`,
			`{"children":{}}`, `{"rank":"0"}`, `[]`, `{"rank":"30","children":{"core":"0"},"x":1}`))
	}
	if r.Intn(4) == 0 {
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	members := []string{`"R_lite":` + rare("["+strings.Join(entries, ",")+"]", "[]", "{}", "null")}
	add := func(one int, text string) {
		if r.Intn(one) > 0 {
			members = append(members, text)
		}
	}
	add(2, `"nodelist":`+rare(fmt.Sprintf(`["n[1-%d]"]`, count), `["n1"]`, `["n[2-1]"]`, `[]`, `null`, `"n1"`, `[3]`,
		fmt.Sprintf(`["n[1-%d]",5]`, count), fmt.Sprintf(`["x,n[02-%02d]"]`, max(count, 2))))
	add(2, `"properties":{`+rare(`"p":"`+fmt.Sprint(next-1)+`"`, `"a|b":"0"`, `"p":"0-"`, `"p":3`, `"p":"99"`, `"p":""`)+`}`)
	add(3, `"starttime":`+rare("100.5", "0", "-3", `"1"`, "null", "1e3"))
	add(3, `"expiration":`+rare("200", "0.0", "50", "true", "-1"))
	add(2, `"nslots":`+rare("4", "0", "-2", "1.5", `"3"`))
	return `{"version":` + rare("1", "2", "1.0", `"1"`) + `,"execution":{` + strings.Join(members, ",") + `}` +
		pick("", "", `,"scheduling":{"a":[1,2]}`, `,"scheduling":null`, `,"attributes":{}`) + rare("}", "} ", "", "}\n")
}

// canon makes two writings of one R comparable: flux-core groups ranks by the
// types they name, even with no ids; it writes a nodelist of no hosts as one
// host without a name; it does not write a property of no ranks.
func canon(t *testing.T, text []byte) any {
	v := loose(t, text)
	ex := v.(map[string]any)["execution"].(map[string]any)
	if n, ok := ex["nodelist"].([]any); ok && len(n) == 1 && n[0] == "" {
		delete(ex, "nodelist")
	}
	if props, ok := ex["properties"].(map[string]any); ok {
		maps.DeleteFunc(props, func(_ string, ids any) bool { return ids == "" })
		if len(props) == 0 {
			delete(ex, "properties")
		}
	}
	joined, _ := Read(text)
	ex["R_lite"] = joined.Short()
	return v
}

func TestAgainstFlux(t *testing.T) {
	r := rand.New(rand.NewSource(20))
	n := max(fluxtest.Number()/80, 20)
	flux := fluxtest.Program(t)
	taken := 0
	for range n {
		in := randomR(r)
		out, ferr := flux(in, "R", "decode")
		got, err := Read([]byte(in))
		if (err == nil) != (ferr == nil) {
			t.Errorf("%s\nerror %v, flux R decode gives %v", in, err, ferr)
			continue
		}
		if err != nil {
			continue
		}
		taken++
		if d := cmp.Diff(canon(t, out), canon(t, got.Encode())); d != "" {
			t.Errorf("%s\n(-want +got)\n%s", in, d)
		}
	}
	t.Logf("%d R, %d of them good", n, taken)
}

// The operations on sets, against `flux R`, which reads two R one after the
// other. Sets are such that flux-core's rule, that nothing may be named twice,
// is kept.
func TestSetsAgainstFlux(t *testing.T) {
	r := rand.New(rand.NewSource(21))
	flux := fluxtest.Program(t)
	r4 := func() *R {
		one := mustRead(t, doc(fmt.Sprintf(`[{"rank":"%d-%d","children":{"core":"%d-%d","gpu":"0-%d"}},{"rank":"%d","children":{"core":"0-3"}}]`,
			r.Intn(3), 3+r.Intn(3), r.Intn(2), 2+r.Intn(3), 1+r.Intn(2), 6+r.Intn(2)), ""))
		return one
	}
	for range max(fluxtest.Number()/250, 5) {
		a, b := r4(), r4()
		both := string(a.Encode()) + "\n" + string(b.Encode())
		for op, f := range map[string]func(a, b *ResourceSet) *ResourceSet{
			"diff": (*ResourceSet).Difference, "intersect": (*ResourceSet).Intersect,
		} {
			out, err := flux(both, "R", op)
			if err != nil {
				t.Fatalf("flux R %s: %v\n%s", op, err, both)
			}
			want, err := Read(bytes.TrimSpace(out))
			if err != nil {
				t.Fatal(err)
			}
			if got := f(a.Set, b.Set); !got.Equal(want.Set) {
				t.Errorf("%s of\n%s\n%s\nis %s, flux says %s", op, a.Short(), b.Short(), got, want.Short())
			}
		}
	}
}
