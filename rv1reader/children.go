// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"flux-burrow/rv1reader/idset"
)

// Child is one type of resource below a rank and the ids of it: "core" 0-7.
type Child struct {
	Type string
	IDs  *idset.Set
}

// Children is what lies below one rank: at most one Child per type, "core"
// first, the others by name, none with an empty set. Children and the sets in
// them are shared between ranks and between sets of resources and are never
// changed; make new ones with NewChildren.
type Children []Child

func byType(a, b Child) int {
	if (a.Type == "core") != (b.Type == "core") {
		if a.Type == "core" {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Type, b.Type)
}

// NewChildren puts children into their order, joins those of one type and
// drops the empty ones. It keeps the sets: the caller must not change them
// from then on.
func NewChildren(list ...Child) Children {
	c := make(Children, 0, len(list))
	for _, ch := range list {
		if ch.IDs.Empty() {
			continue
		}
		i, found := slices.BinarySearchFunc(c, ch, byType)
		if found {
			c[i].IDs = c[i].IDs.Union(ch.IDs)
			continue
		}
		c = slices.Insert(c, i, ch)
	}
	return c
}

// CoresGPUs is NewChildren for the two common types; either may be nil.
func CoresGPUs(cores, gpus *idset.Set) Children {
	return NewChildren(Child{"core", cores}, Child{"gpu", gpus})
}

// IDs returns the ids of a type; nil, which reads as an empty set, if there
// are none. The set must not be changed.
func (c Children) IDs(typ string) *idset.Set {
	for i := range c {
		if c[i].Type == typ {
			return c[i].IDs
		}
	}
	return nil
}

// Cores returns the core ids; nil if there are none. Not to be changed.
func (c Children) Cores() *idset.Set { return c.IDs("core") }

// GPUs returns the gpu ids; nil if there are none. Not to be changed.
func (c Children) GPUs() *idset.Set { return c.IDs("gpu") }

// Equal tells whether both hold the same types and ids.
func (c Children) Equal(o Children) bool {
	return slices.EqualFunc(c, o, func(a, b Child) bool {
		return a.Type == b.Type && (a.IDs == b.IDs || a.IDs.Equal(b.IDs))
	})
}

// Union returns what is in either.
func (c Children) Union(o Children) Children {
	switch {
	case len(o) == 0 || c.Equal(o):
		return c
	case len(c) == 0:
		return o
	}
	return NewChildren(slices.Concat(c, o)...)
}

func (c Children) with(o Children, op func(a, b *idset.Set) *idset.Set) Children {
	var out Children
	for _, ch := range c {
		ids := op(ch.IDs, o.IDs(ch.Type))
		if ids.Empty() {
			continue
		}
		if out == nil {
			out = make(Children, 0, len(c))
		}
		out = append(out, Child{ch.Type, ids})
	}
	return out
}

// Intersect returns what is in both.
func (c Children) Intersect(o Children) Children {
	if c.Equal(o) {
		return c
	}
	return c.with(o, (*idset.Set).Intersect)
}

// Difference returns what is in c and not in o.
func (c Children) Difference(o Children) Children {
	if len(o) == 0 {
		return c
	}
	if c.Equal(o) {
		return nil
	}
	return c.with(o, (*idset.Set).Difference)
}

// Overlaps tells whether anything is in both.
func (c Children) Overlaps(o Children) bool {
	for _, ch := range c {
		if ch.IDs.Overlaps(o.IDs(ch.Type)) {
			return true
		}
	}
	return false
}

// Contains tells whether all of o is in c.
func (c Children) Contains(o Children) bool {
	for _, ch := range o {
		if ids := c.IDs(ch.Type); ids != ch.IDs && !ids.ContainsAll(ch.IDs) {
			return false
		}
	}
	return true
}

// key is equal for equal children only: types are quoted, as an unknown type
// may be any text.
func (c Children) key() string {
	b := make([]byte, 0, 48)
	for _, ch := range c {
		b = strconv.AppendQuote(b, ch.Type)
		b, _ = ch.IDs.AppendText(b)
	}
	return string(b)
}

// String gives the short form: core[0-7],gpu[0-1].
func (c Children) String() string {
	var b strings.Builder
	for i, ch := range c {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(ch.Type)
		b.WriteString(ch.IDs.Bracketed())
	}
	return b.String()
}
