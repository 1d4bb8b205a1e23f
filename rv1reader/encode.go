// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"strconv"

	"flux-burrow/rv1reader/internal/jsonstr"
)

// Encode writes R (RFC 20) as flux-core does: ranks with equal children in one
// entry of R_lite, by first rank; the nodelist as one compressed string;
// starttime and expiration always; nslots, properties and the scheduling key
// if there are any. Ranks without children have no entry of their own, so they
// are written only where the nodelist needs them. Reading what Encode wrote
// gives an equal R. Unlike flux-core it keeps a property of no ranks, and writes
// no nodelist for no ranks, where flux-core writes one host without a name.
func (r *R) Encode() []byte { return r.AppendJSON(nil) }

// MarshalJSON is Encode for encoding/json.
func (r *R) MarshalJSON() ([]byte, error) { return r.Encode(), nil }

// AppendJSON appends what Encode returns to b.
func (r *R) AppendJSON(b []byte) []byte {
	b = append(b, `{"version":1,"execution":{"R_lite":[`...)
	for i, g := range r.Set.Groups() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, g)
	}
	if bare := r.Ranks.Difference(r.Set.Ranks()); !bare.Empty() {
		if !r.Set.Empty() {
			b = append(b, ',')
		}
		b = appendEntry(b, Group{Ranks: bare})
	}
	b = append(b, ']')
	if r.Nodelist != nil {
		b = append(b, `,"nodelist":[`...)
		b = jsonstr.Append(b, r.Nodelist.String())
		b = append(b, ']')
	}
	if len(r.Properties) > 0 {
		b = append(b, `,"properties":{`...)
		for i, p := range r.Properties {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonstr.Append(b, p.Name), `:"`...)
			b, _ = p.Ranks.AppendText(b)
			b = append(b, '"')
		}
		b = append(b, '}')
	}
	if r.NSlots > 0 {
		b = append(b, `,"nslots":`...)
		b = strconv.AppendInt(b, int64(r.NSlots), 10)
	}
	b = append(b, `,"starttime":`...)
	b = appendSeconds(b, r.Starttime)
	b = append(b, `,"expiration":`...)
	b = appendSeconds(b, r.Expiration)
	b = append(b, '}')
	if r.Scheduling != nil {
		b = append(b, `,"scheduling":`...)
		b = append(b, r.Scheduling...)
	}
	return append(b, '}')
}

func appendEntry(b []byte, g Group) []byte {
	b = append(b, `{"rank":"`...)
	b, _ = g.Ranks.AppendText(b)
	b = append(b, `","children":{`...)
	for i, c := range g.Children {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonstr.Append(b, c.Type), `:"`...)
		b, _ = c.IDs.AppendText(b)
		b = append(b, '"')
	}
	return append(b, `}}`...)
}

// appendSeconds writes a time without an exponent, which is legal JSON and a
// surprise to a reader of R; but for numbers that are no time any more, of which
// a plain integer is past what JSON readers take.
func appendSeconds(b []byte, t float64) []byte {
	if t >= 1e15 {
		return strconv.AppendFloat(b, t, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, max(t, 0), 'f', -1, 64)
}
