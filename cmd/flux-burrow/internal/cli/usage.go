// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"flux-burrow/rv1reader/idset"
)

// usageError is a command line that can't be understood: exit status 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// takes checks the number of arguments; names are how the usage writes them,
// the first need of them required.
func takes(need int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		what := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" ")
		switch {
		case len(args) < need:
			return usagef("%s: %s is missing", what, names[len(args)])
		case len(args) > len(names):
			return usagef("%s: %s: one argument too many", what, args[len(names)])
		}
		return nil
	}
}

// maxRank is above the rank of any broker; what is past it is a slip.
const maxRank = 1 << 24

// ranks reads an idset, with or without brackets.
func ranks(what, s string) (*idset.Set, error) {
	set, err := idset.Parse(s)
	switch {
	case err != nil:
		return nil, usagef("%s: RANKS: %w", what, err)
	case set.Empty():
		return nil, usagef("%s: RANKS is empty: it takes ranks such as 0-3,7", what)
	case set.Last() >= maxRank:
		return nil, usagef("%s: RANKS: %d is no rank", what, set.Last())
	}
	return set, nil
}
