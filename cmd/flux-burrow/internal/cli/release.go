// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/term"
	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/wire"
)

func (a *app) release() *cobra.Command {
	return &cobra.Command{
		Use:   "release RANKS",
		Short: "Let go of what a given-up unmount left up",
		Long: "Let go of the services that stay up on RANKS since the unmount of a job was\n" +
			"given up. They come to what the jobs that are there now need.",
		Args: takes(1, "RANKS"),
		RunE: func(_ *cobra.Command, args []string) error { return a.runRelease(args[0]) },
	}
}

func (a *app) runRelease(arg string) error {
	set, err := ranks("release", arg)
	if err != nil {
		return err
	}
	c, err := a.open("release")
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := c.RPC(leader, "job-manager.burrow.release", wire.Encode(wire.ReleaseRequest{Ranks: set}))
	if err != nil {
		return explain("release", err, noHooks)
	}
	var r wire.ReleaseResponse
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		return fmt.Errorf("release: job-manager.burrow.release: bad answer: %w", err)
	}
	if len(r.Released) == 0 {
		fmt.Fprintf(a.out, "nothing was kept up on ranks %s\n", set)
	}
	slices.SortFunc(r.Released, func(a, b wire.JobRanks) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range r.Released {
		fmt.Fprintf(a.out, "released ranks %s, kept up since the unmount of job %s was given up\n",
			j.Ranks, jobid.ID(j.ID).Text(term.ASCII()))
	}
	return nil
}
