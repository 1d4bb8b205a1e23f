// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// F58 writes a job id as Flux's commands show it (RFC 19).
func F58(id uint64) string {
	var digits [16]byte
	i := len(digits)
	for {
		i--
		digits[i] = base58[id%58]
		if id /= 58; id == 0 {
			return "ƒ" + string(digits[i:])
		}
	}
}
