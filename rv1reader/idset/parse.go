// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import "fmt"

// Error says where and why a string is not an idset.
type Error struct {
	Input string // the string, cut if long
	Pos   int    // byte offset in the string, from 0
	Msg   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("idset %q: at byte %d: %s", e.Input, e.Pos, e.Msg)
}

const shown = 64 // bytes of the input that an Error keeps

func fault[T string | []byte](in T, pos int, format string, args ...any) error {
	s := string(in[:min(len(in), shown)])
	if len(in) > shown {
		s += "..."
	}
	return &Error{s, pos, fmt.Sprintf(format, args...)}
}

// Parse reads an idset (RFC 22): ids and ranges `lo-hi` in rising order,
// separated by commas, optionally as a whole in brackets. The empty string is
// the empty set. As in flux-core, empty items between commas are passed over.
// Refused are: leading zeros, blanks, an id or range that does not rise above
// the one before, a range whose end is not above its start, ids above MaxID.
// The error is an *Error.
func Parse(in string) (*Set, error) { return parse(in) }

// ParseBytes is Parse for a slice, which it does not keep.
func ParseBytes(in []byte) (*Set, error) { return parse(in) }

// MustParse is Parse for constants in code and tests; it panics on an error.
func MustParse(in string) *Set {
	s, err := Parse(in)
	if err != nil {
		panic(err)
	}
	return s
}

func parse[T string | []byte](in T) (*Set, error) {
	s := withRoom()
	i, end := 0, len(in)
	if end >= 2 && in[0] == '[' && in[end-1] == ']' {
		i, end = 1, end-1
	}
	for last := -1; i < end; {
		if in[i] == ',' {
			i++
			continue
		}
		start := i
		lo, next, err := number(in, i, end)
		if err != nil {
			return nil, err
		}
		hi := lo
		if next < end && in[next] == '-' {
			if hi, next, err = number(in, next+1, end); err != nil {
				return nil, err
			}
			if hi <= lo {
				return nil, fault(in, start, "range %d-%d does not rise", lo, hi)
			}
		}
		if next < end && in[next] != ',' {
			return nil, unexpected(in, next)
		}
		if lo <= last {
			return nil, fault(in, start, "%d is out of order after %d", lo, last)
		}
		s.AddRange(lo, hi)
		last, i = hi, next
	}
	return s, nil
}

// number reads a decimal at i and returns it with the offset after it.
func number[T string | []byte](in T, i, end int) (n, next int, err error) {
	start := i
	for ; i < end && '0' <= in[i] && in[i] <= '9'; i++ {
		if n = n*10 + int(in[i]-'0'); n > MaxID {
			return 0, 0, fault(in, start, "id is above %d", MaxID)
		}
	}
	switch {
	case i == start && i == end:
		return 0, 0, fault(in, i, "a number is missing at the end")
	case i == start:
		return 0, 0, unexpected(in, i)
	case in[start] == '0' && i-start > 1:
		return 0, 0, fault(in, start, "number with a leading zero")
	}
	return n, i, nil
}

func unexpected[T string | []byte](in T, i int) error {
	switch in[i] {
	case '[', ']':
		return fault(in, i, "bracket %q does not enclose the whole set", in[i])
	}
	return fault(in, i, "%q where a number, '-' or ',' belongs", in[i])
}
