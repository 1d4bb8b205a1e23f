// SPDX-License-Identifier: LGPL-3.0-or-later

package idset

import "strconv"

// AppendText appends the written form (RFC 22, no brackets) to b. The error is
// always nil; it is there for encoding.TextAppender.
func (s *Set) AppendText(b []byte) ([]byte, error) {
	for i, r := range s.list() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.Lo), 10)
		if r.Hi > r.Lo {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(r.Hi), 10)
		}
	}
	return b, nil
}

// String returns the written form (RFC 22, no brackets), `0-3,7`.
func (s *Set) String() string {
	b, _ := s.AppendText(nil)
	return string(b)
}

// Bracketed returns the form that names and lists use: in brackets if there
// is more than one member, `[0-3,7]`, without if there is one, `5`.
func (s *Set) Bracketed() string {
	if s.Count() < 2 {
		return s.String()
	}
	b, _ := s.AppendText([]byte{'['})
	return string(append(b, ']'))
}

// MarshalText gives the written form.
func (s *Set) MarshalText() ([]byte, error) { return s.AppendText(nil) }

// UnmarshalText replaces the set by the one that text says, or leaves it as it
// is and returns Parse's error.
func (s *Set) UnmarshalText(text []byte) error {
	n, err := parse(text)
	if err != nil {
		return err
	}
	s.runs = n.runs
	return nil
}

// MarshalJSON gives the written form as a JSON string.
func (s *Set) MarshalJSON() ([]byte, error) {
	b, _ := s.AppendText([]byte{'"'})
	return append(b, '"'), nil
}
