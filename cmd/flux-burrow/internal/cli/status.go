// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/status"
	"flux-burrow/cmd/flux-burrow/internal/term"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// leader is the rank of the agent that is asked, and hands the question on.
const leader = 0

func (a *app) status() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "status [--json] [RANKS]",
		Short: "Show the services of nodes, as they are and as they are wanted",
		Long: "Show the services of all nodes, or of RANKS, as they are and as they are\n" +
			"wanted, and which jobs say so. A * marks a service that is not as it is\n" +
			"wanted, a ! a node that did not answer.",
		Args: takes(0, "RANKS"),
		RunE: func(_ *cobra.Command, args []string) error { return a.runStatus(args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the agents' answer as JSON")
	return cmd
}

func (a *app) runStatus(args []string, asJSON bool) error {
	var set *idset.Set
	if len(args) > 0 {
		var err error
		if set, err = ranks("status", args[0]); err != nil {
			return err
		}
	}
	c, err := a.open("status")
	if err != nil {
		return err
	}
	defer c.Close()
	if set == nil {
		n, err := c.Size()
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
		set = idset.NewRange(0, n-1)
	}
	answer, err := c.RPC(leader, "burrow.status", wire.Encode(wire.StatusRequest{Ranks: set}))
	if err != nil {
		return explain("status", err, noAgent)
	}
	var st wire.StatusResponse
	if err := json.Unmarshal([]byte(answer), &st); err != nil {
		return fmt.Errorf("status: burrow.status: bad answer: %w", err)
	}
	if asJSON {
		_, err = fmt.Fprintln(a.out, answer)
	} else {
		err = status.Write(a.out, &st, status.Options{ASCII: term.ASCII(), Color: term.Color(a.out)})
	}
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if text := status.Unanswered(&st); text != "" {
		return fmt.Errorf("status: %s", text)
	}
	return nil
}
