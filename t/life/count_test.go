// SPDX-License-Identifier: LGPL-3.0-or-later

//go:build !race

package life

// histories is how many the long random test plays.
const histories = 10000
