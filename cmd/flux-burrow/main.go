// SPDX-License-Identifier: LGPL-3.0-or-later

// Flux-burrow is the command line of burrow, run as flux burrow.
package main

import (
	"os"

	"flux-burrow/cmd/flux-burrow/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
