// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong in an R. It is the type of the errors that
// Read collects, and of its warnings.
type Fault struct {
	// Path leads to the value: `execution.R_lite[2].children.core`. Empty for
	// R as a whole.
	Path string
	// Value is the JSON text of the value, cut if long; may be empty.
	Value string
	// Offset is the byte offset of the value in R, -1 if it has none.
	Offset int
	// Pos is the byte offset of the fault inside the string that Value is, for
	// idsets and hostlists; -1 for other faults.
	Pos int
	// Msg says what is wrong.
	Msg string
	// More is how many further ones this stands for, which were not kept (see
	// Limits); 0 for all but the last.
	More int
}

// Error gives `execution.R_lite[2].children.core: "0-": a number is missing at
// the end (byte 2 of the string, at byte 93)`.
func (f *Fault) Error() string {
	var b strings.Builder
	for _, s := range []string{f.Path, f.Value} {
		if s != "" {
			b.WriteString(s)
			b.WriteString(": ")
		}
	}
	b.WriteString(f.Msg)
	switch {
	case f.Pos >= 0 && f.Offset >= 0:
		fmt.Fprintf(&b, " (byte %d of the string, at byte %d)", f.Pos, f.Offset)
	case f.Offset >= 0:
		fmt.Fprintf(&b, " (at byte %d)", f.Offset)
	}
	return b.String()
}
