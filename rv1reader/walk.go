// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import "bytes"

// A node is one value in bytes that have passed validate: in[start:end].
type node struct {
	in         []byte
	start, end int
}

func root(in []byte) node {
	i := skipSpace(in, 0)
	return node{in, i, skipValue(in, i)}
}

// kind returns the first byte that tells what a value is: { [ " t f n, or '0'
// for every number.
func kind(in []byte) byte {
	i := skipSpace(in, 0)
	if i == len(in) {
		return 0
	}
	if c := in[i]; c == '-' || '0' <= c && c <= '9' {
		return '0'
	}
	return in[i]
}

func (n node) raw() []byte { return n.in[n.start:n.end] }
func (n node) kind() byte  { return kind(n.raw()) }

// is tells whether a string says text. Keys may be written with escapes.
func (n node) is(text string) bool {
	raw := n.raw()
	return string(raw[1:len(raw)-1]) == text || bytes.IndexByte(raw, '\\') >= 0 && unquote(raw) == text
}

func skipSpace(in []byte, i int) int {
	for i < len(in) && isSpace(in[i]) {
		i++
	}
	return i
}

func skipString(in []byte, i int) int {
	for i++; in[i] != '"'; i++ {
		if in[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipValue(in []byte, i int) int {
	switch in[i] {
	case '"':
		return skipString(in, i)
	case '{', '[':
	default:
		for i < len(in) && in[i] != ',' && in[i] != '}' && in[i] != ']' && !isSpace(in[i]) {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch in[i] {
		case '"':
			i = skipString(in, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// object calls f for each member of an object with the key in its quotes.
func (n node) object(f func(key, value node)) {
	for i := skipSpace(n.in, n.start+1); n.in[i] != '}'; {
		key := node{n.in, i, skipString(n.in, i)}
		i = skipSpace(n.in, skipSpace(n.in, key.end)+1)
		value := node{n.in, i, skipValue(n.in, i)}
		f(key, value)
		if i = skipSpace(n.in, value.end); n.in[i] == ',' {
			i = skipSpace(n.in, i+1)
		}
	}
}

// array calls f for each element of an array.
func (n node) array(f func(i int, value node)) {
	for i, k := skipSpace(n.in, n.start+1), 0; n.in[i] != ']'; k++ {
		value := node{n.in, i, skipValue(n.in, i)}
		f(k, value)
		if i = skipSpace(n.in, value.end); n.in[i] == ',' {
			i = skipSpace(n.in, i+1)
		}
	}
}
