// SPDX-License-Identifier: LGPL-3.0-or-later

package status

import (
	"encoding/json"
	"strings"
	"testing"

	"flux-burrow/cmd/flux-burrow/internal/golden"
	"flux-burrow/hooks/wire"
)

const unit = `"unit":"nnf-clientmount.service"`

func read(t *testing.T, text string) *wire.StatusResponse {
	t.Helper()
	var st wire.StatusResponse
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		t.Fatal(err)
	}
	return &st
}

func table(t *testing.T, text string, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, read(t, text), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tables = map[string]string{
	"idle": `{"nodes":[{"ranks":"0-15","services":[{` + unit + `,"state":"down","wanted":"down"}],"needs":[]}],"failed":[]}`,
	"mixed": `{"nodes":[
		{"ranks":"2","services":[{` + unit + `,"state":"unknown","wanted":"down","error":"stop nnf-clientmount.service: /usr/libexec/flux/flux-imp: exit status 1: disk on fire"}],
		 "needs":[{"id":53150220288,"phase":"run","gen":7}]},
		{"ranks":"0-1,8","services":[{` + unit + `,"state":"down","wanted":"down"}],"needs":[{"id":53150220288,"phase":"run","gen":7}]},
		{"ranks":"4","services":[{` + unit + `,"state":"up","wanted":"up"}],"needs":[{"id":53150220288,"phase":"run","gen":7},{"id":53150220289,"phase":"mount","gen":8}]},
		{"ranks":"5","services":[{` + unit + `,"state":"down","wanted":"up"}],"needs":[{"id":53150220289,"phase":"mount","gen":8}]},
		{"ranks":"6","services":[{` + unit + `,"state":"absent","wanted":"up"}],"needs":[{"id":53150220289,"phase":"mount","gen":8}]}],
		"failed":[{"ranks":"3","reason":"burrow agent is not loaded"},{"ranks":"9","reason":"lost contact: No route to host"}]}`,
	"paused": `{"nodes":[{"ranks":"0-3","services":[{` + unit + `,"state":"unknown","wanted":"unknown"}],"needs":[]}],"failed":[]}`,
	// The same but for the generations, which do not show.
	"generations": `{"nodes":[
		{"ranks":"0","services":[{` + unit + `,"state":"up","wanted":"up"},{"unit":"nnf-dm.service","state":"down","wanted":"down"}],"needs":[{"id":1,"phase":"unmount","gen":7}]},
		{"ranks":"1","services":[{` + unit + `,"state":"up","wanted":"up"},{"unit":"nnf-dm.service","state":"down","wanted":"down"}],"needs":[{"id":1,"phase":"unmount","gen":9}]}],"failed":[]}`,
	"shared": `{"nodes":[{"ranks":"7","services":[{` + unit + `,"state":"down","wanted":"down"}],
		"needs":[{"id":1,"phase":"run","gen":1},{"id":2,"phase":"run","gen":2},{"id":3,"phase":"run","gen":3},{"id":4,"phase":"run","gen":4},{"id":5,"phase":"run","gen":5},{"id":6,"phase":"run","gen":6}]}],"failed":[]}`,
	"no-services": `{"nodes":[{"ranks":"0-1","services":[],"needs":[]}],"failed":[]}`,
}

func TestTables(t *testing.T) {
	for name, text := range tables {
		golden.Check(t, name+".txt", table(t, text, Options{}))
	}
	golden.Check(t, "mixed-ascii-color.txt", table(t, tables["mixed"], Options{ASCII: true, Color: true}))
}

func TestUnanswered(t *testing.T) {
	if got := Unanswered(read(t, tables["mixed"])); got != "no answer from 2 of 9 ranks" {
		t.Error(got)
	}
	if got := Unanswered(read(t, tables["idle"])); got != "" {
		t.Error(got)
	}
}
