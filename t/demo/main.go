// SPDX-License-Identifier: LGPL-3.0-or-later

// Demo runs burrow's main job in the embedded instance, and reports what
// happened there or in a real one. See demo.sh.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: demo embed|report DIR")
		os.Exit(2)
	}
	dir := os.Args[2]
	if os.Args[1] == "embed" {
		if err := runEmbedded(dir); err != nil {
			fmt.Fprintf(os.Stderr, "demo: %v\n", err)
			os.Exit(1)
		}
	}
	bad, err := report(os.Stdout, dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
	if bad > 0 {
		os.Exit(1)
	}
}
