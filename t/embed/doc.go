// SPDX-License-Identifier: LGPL-3.0-or-later

// Package embed is a Flux instance in one process, for tests and
// demonstrations where there is no Flux.
package embed
