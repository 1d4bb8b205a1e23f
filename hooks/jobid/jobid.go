// SPDX-License-Identifier: LGPL-3.0-or-later

// Package jobid reads and writes job ids in the forms that Flux gives them.
package jobid

import (
	"strconv"
	"strings"
)

// ID is a job id, a FLUID (RFC 19): 64 bits that rise with the time of
// submission.
type ID uint64

// alphabet is the base58 alphabet of RFC 19.
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// String gives the F58 form (RFC 19), which is what users see: ƒ2oLkTLb.
func (id ID) String() string {
	var b [16]byte
	i := len(b)
	for n := uint64(id); ; n /= 58 {
		i--
		b[i] = alphabet[n%58]
		if n < 58 {
			break
		}
	}
	return "ƒ" + string(b[i:])
}

// Text gives the F58 form; with ascii it begins with f, for terminals that
// don't know the ƒ.
func (id ID) Text(ascii bool) string {
	if ascii {
		return "f" + strings.TrimPrefix(id.String(), "ƒ")
	}
	return id.String()
}

// Decimal gives the form that JSON payloads use.
func (id ID) Decimal() string { return strconv.FormatUint(uint64(id), 10) }

// Key gives the KVS key of one of the job's data, such as "R" or "eventlog"
// (RFC 16): job.0000.0004.8a00.0000.R.
func (id ID) Key(name string) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, 4+20+len(name))
	b = append(b, "job."...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, hex[uint64(id)>>shift&15])
		if shift%16 == 0 {
			b = append(b, '.')
		}
	}
	return string(append(b, name...))
}
