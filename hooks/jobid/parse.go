// SPDX-License-Identifier: LGPL-3.0-or-later

package jobid

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Parse reads F58 (ƒ2oLkTLb or f2oLkTLb), decimal, hexadecimal (0x...), dotted
// hexadecimal (0000.0004.8a00.0000) and the KVS form (job.0000....), all of RFC 19
// or RFC 16.
func Parse(s string) (ID, error) {
	id, err := parse(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%q is no job id: %w", s, err)
	}
	return ID(id), nil
}

func parse(s string) (uint64, error) {
	for _, f := range []string{"ƒ", "f"} {
		if digits, ok := strings.CutPrefix(s, f); ok {
			return base58(digits)
		}
	}
	if dotted := strings.TrimPrefix(s, "job."); strings.Contains(dotted, ".") {
		return dothex(dotted)
	}
	base, digits := 10, s
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		base, digits = 16, hex
	}
	// ParseUint takes no sign and, with a base given, no underscore.
	id, err := strconv.ParseUint(digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooBig
	case err != nil:
		return 0, errors.New("it takes a form such as ƒ2PyhmmR, 53150220288, 0xc60000000 or 0000.000c.6000.0000")
	}
	return id, nil
}

var errTooBig = errors.New("it is larger than 64 bits")

func base58(digits string) (uint64, error) {
	if digits == "" {
		return 0, errors.New("there is nothing after the f")
	}
	var id uint64
	for _, c := range digits {
		d := strings.IndexRune(alphabet, c)
		if d < 0 {
			return 0, fmt.Errorf("%q is no digit of base 58", c)
		}
		hi, lo := bits.Mul64(id, 58)
		sum, carry := bits.Add64(lo, uint64(d), 0)
		if hi != 0 || carry != 0 {
			return 0, errTooBig
		}
		id = sum
	}
	return id, nil
}

// dothex reads four groups of four digits.
func dothex(s string) (uint64, error) {
	groups := strings.Split(s, ".")
	if len(groups) != 4 {
		return 0, errors.New("dotted hexadecimal has four groups")
	}
	var id uint64
	for _, g := range groups {
		n, err := strconv.ParseUint(g, 16, 16)
		if err != nil || len(g) != 4 {
			return 0, fmt.Errorf("%q is no group of four hexadecimal digits", g)
		}
		id = id<<16 | n
	}
	return id, nil
}
