// SPDX-License-Identifier: LGPL-3.0-or-later

package reservations

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"flux-burrow/cmd/flux-burrow/internal/golden"
	"flux-burrow/module/sched/reserve"
)

var plain = Options{
	Zone: time.FixedZone("there", 3600),
	User: func(id int64) string {
		if id == 1000 {
			return "ada"
		}
		return fmt.Sprint(id)
	},
}

const list = `{"reservations":[
	{"name":"course","state":"active","start":1790000000,"end":1790007200.5,"nodes":"n[6-7]","ranks":"6-7","hosts":"n[6-7]","rabbits":[],"users":[1000,1001],"reason":"",
	 "jobs":[53150220288,53150220289,53150220290,53150220291,53150220292,53150220293]},
	{"name":"maint","state":"waiting","start":1790086400,"end":1790100800,"constraint":{"properties":["old"]},"ranks":"","hosts":"","missing":"n[8-9]","rabbits":["r0","r1"],"users":[],"reason":"new fans","jobs":[]}]}`

func TestTable(t *testing.T) {
	var r reserve.ListResponse
	if err := json.Unmarshal([]byte(list), &r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Write(&b, r.Reservations, plain); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "list.txt", b.String())
	b.Reset()
	dull := plain
	dull.ASCII, dull.Color = true, true
	if err := Write(&b, nil, dull); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "none.txt", b.String())
}

func TestAdded(t *testing.T) {
	var r reserve.AddResponse
	if err := json.Unmarshal([]byte(`{"name":"a","ranks":"0-3","hosts":"n[0-3]","start":1790000000,"end":1790007200,"running":[`+
		`{"id":53150220288,"ranks":"1-2","expiration":1790000100.5},{"id":53150220289,"ranks":"3","expiration":0}]}`), &r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := WriteAdded(&b, &r, plain); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "added.txt", b.String())
}
