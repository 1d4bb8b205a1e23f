// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Why not encoding/json: Read needs the byte offset of each value, its raw
// text, and members in their order; it has to be quick for many small R; and a
// few bytes of deep nesting must not cost a deep stack.

// maxDepth is how deep values may lie in one another; the same as jansson's.
const maxDepth = 2048

// validator checks that bytes are one JSON value as jansson takes it: RFC 8259
// with UTF-8, no NUL in strings, numbers within int64 and float64.
type validator struct {
	in []byte
	i  int
}

type syntaxError struct {
	pos int
	msg string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.pos, e.msg) }

// validate returns nil or a *syntaxError.
func validate(in []byte) error {
	v := validator{in: in}
	if e := v.document(); e != nil {
		return e
	}
	return nil
}

func (v *validator) document() *syntaxError {
	if !utf8.Valid(v.in) {
		for i := 0; i < len(v.in); {
			r, n := utf8.DecodeRune(v.in[i:])
			if r == utf8.RuneError && n == 1 {
				return &syntaxError{i, "not UTF-8"}
			}
			i += n
		}
	}
	if e := v.value(1); e != nil {
		return e
	}
	if v.space(); v.i < len(v.in) {
		return v.fault("text after the end of the JSON value")
	}
	return nil
}

func (v *validator) fault(format string, args ...any) *syntaxError {
	return &syntaxError{v.i, fmt.Sprintf(format, args...)}
}

func (v *validator) expected(what string) *syntaxError {
	if v.i >= len(v.in) {
		return v.fault("the JSON text ends where %s belongs", what)
	}
	return v.fault("%q where %s belongs", v.in[v.i], what)
}

func (v *validator) space() {
	for v.i < len(v.in) && isSpace(v.in[v.i]) {
		v.i++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (v *validator) peek() byte {
	if v.i < len(v.in) {
		return v.in[v.i]
	}
	return 0
}

func (v *validator) value(depth int) *syntaxError {
	if depth > maxDepth {
		return v.fault("values are nested deeper than %d", maxDepth)
	}
	v.space()
	switch c := v.peek(); {
	case c == '{':
		return v.members('}', true, depth)
	case c == '[':
		return v.members(']', false, depth)
	case c == '"':
		return v.text()
	case c == '-' || '0' <= c && c <= '9':
		return v.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if end := v.i + len(word); end <= len(v.in) && string(v.in[v.i:end]) == word {
			v.i = end
			return nil
		}
	}
	return v.expected("a JSON value")
}

func (v *validator) members(end byte, keys bool, depth int) *syntaxError {
	v.i++
	if v.space(); v.peek() == end {
		v.i++
		return nil
	}
	for {
		if keys {
			if v.space(); v.peek() != '"' {
				return v.expected("a key")
			}
			if e := v.text(); e != nil {
				return e
			}
			if v.space(); v.peek() != ':' {
				return v.expected("':'")
			}
			v.i++
		}
		if e := v.value(depth + 1); e != nil {
			return e
		}
		switch v.space(); v.peek() {
		case ',':
			v.i++
		case end:
			v.i++
			return nil
		default:
			return v.expected(fmt.Sprintf("',' or '%c'", end))
		}
	}
}

func (v *validator) text() *syntaxError {
	for v.i++; v.i < len(v.in); v.i++ {
		switch c := v.in[v.i]; {
		case c == '"':
			v.i++
			return nil
		case c < ' ':
			return v.fault("control character %q in a string", c)
		case c == '\\':
			if e := v.escape(); e != nil {
				return e
			}
		}
	}
	return v.fault("the JSON text ends in a string")
}

// escape leaves i at the last byte of the escape.
func (v *validator) escape() *syntaxError {
	v.i++
	switch v.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
	default:
		return v.expected("the rest of an escape")
	}
	r := v.hex4()
	if 0xD800 <= r && r < 0xDC00 && v.i+2 < len(v.in) && v.in[v.i+1] == '\\' && v.in[v.i+2] == 'u' {
		v.i += 2
		if low := v.hex4(); low < 0xDC00 || low > 0xDFFF {
			return v.fault("half of a surrogate pair")
		}
		return nil
	}
	switch {
	case r < 0:
		return v.expected("a hexadecimal number of four digits")
	case r == 0:
		return v.fault("NUL in a string")
	case 0xD800 <= r && r < 0xE000:
		return v.fault("half of a surrogate pair")
	}
	return nil
}

// hex4 reads four digits after i and moves to the last; -1 if they are not.
func (v *validator) hex4() int {
	if v.i+4 >= len(v.in) {
		return -1
	}
	n, err := strconv.ParseUint(string(v.in[v.i+1:v.i+5]), 16, 16)
	if err != nil {
		return -1
	}
	v.i += 4
	return int(n)
}

func (v *validator) digits() bool {
	start := v.i
	for '0' <= v.peek() && v.peek() <= '9' {
		v.i++
	}
	return v.i > start
}

func (v *validator) number() *syntaxError {
	start, real := v.i, false
	if v.peek() == '-' {
		v.i++
	}
	if v.peek() == '0' {
		v.i++
	} else if !v.digits() {
		return v.expected("a digit")
	}
	if v.peek() == '.' {
		real = true
		if v.i++; !v.digits() {
			return v.expected("a digit")
		}
	}
	if c := v.peek(); c == 'e' || c == 'E' {
		real = true
		v.i++
		if c := v.peek(); c == '+' || c == '-' {
			v.i++
		}
		if !v.digits() {
			return v.expected("a digit")
		}
	}
	if v.i-start < 18 && !(real && v.i-start > 4) {
		return nil // too short to be out of range
	}
	var err error
	if text := string(v.in[start:v.i]); real {
		_, err = strconv.ParseFloat(text, 64)
	} else {
		_, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		v.i = start
		return v.fault("number out of range")
	}
	return nil
}

// unquote returns the text of a JSON string that has been validated.
func unquote(raw []byte) string {
	for _, c := range raw {
		if c == '\\' {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return "" // does not happen after validate
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}
