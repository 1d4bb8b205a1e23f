// SPDX-License-Identifier: LGPL-3.0-or-later

// Package jsonstr writes JSON strings (RFC 8259).
package jsonstr

import "encoding/json"

// Append appends s in quotes to b. Bytes that are not UTF-8 become U+FFFD.
// Nearly all strings in R need no escape and cost no allocation.
func Append[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			text, _ := json.Marshal(string(s)) // a string always can be
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
