// SPDX-License-Identifier: LGPL-3.0-or-later

// Flux-burrow is the command line of burrow, run as flux burrow.
package main

func main() {}
