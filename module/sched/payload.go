// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"strconv"

	"flux-burrow/hooks/jobid"
)

// payload builds the payload of an alloc response.
type payload struct{ b []byte }

func newPayload(id jobid.ID, typ int) *payload {
	b := append([]byte(`{"id":`), id.Decimal()...)
	b = append(b, `,"type":`...)
	return &payload{strconv.AppendInt(b, int64(typ), 10)}
}

func (p *payload) raw(name, value string) {
	p.b = append(p.b, `,"`...)
	p.b = append(p.b, name...)
	p.b = append(p.b, `":`...)
	p.b = append(p.b, value...)
}

func (p *payload) text(name, value string) { p.raw(name, quote(value)) }

func (p *payload) done() string { return string(append(p.b, '}')) }

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
