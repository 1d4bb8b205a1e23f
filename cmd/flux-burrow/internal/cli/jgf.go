// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"fmt"

	"github.com/hashicorp/go-multierror"
	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/lint"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/jgf"
)

type jgfOptions struct {
	inventory, cluster string
	whole              bool
}

func (a *app) jgf() *cobra.Command {
	var o jgfOptions
	cmd := &cobra.Command{
		Use:   "jgf [--inventory FILE] [--cluster NAME] [--whole] [FILE]",
		Short: "Write the JSON graph of an R, as Fluxion has it",
		Long: "Write the JSON graph (JGF) of the R in FILE (- for standard input), or of the\n" +
			"running instance's R. The graph of a job's R gets the ids that Fluxion gives\n" +
			"its vertices if --inventory names the R of the instance it ran in.",
		Args: takes(0, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.runJGF(args, o) },
	}
	cmd.Flags().StringVar(&o.inventory, "inventory", "", "the instance's R is in `FILE`; default: R itself")
	cmd.Flags().StringVar(&o.cluster, "cluster", "cluster", "base `NAME` of the root vertex")
	cmd.Flags().BoolVar(&o.whole, "whole", false, "write R with the graph as its scheduling key")
	return cmd
}

func (a *app) runJGF(args []string, o jgfOptions) error {
	var data []byte
	var err error
	name := instanceKey
	if len(args) > 0 {
		if data, name, err = a.read(args[0]); err != nil {
			return fmt.Errorf("jgf: %w", err)
		}
	} else if data, err = a.instanceR("jgf"); err != nil {
		return err
	}
	r, err := readR(name, data)
	if err != nil {
		return err
	}
	inventory := r
	if o.inventory != "" {
		text, name, err := a.read(o.inventory)
		if err != nil {
			return fmt.Errorf("jgf: %w", err)
		}
		if inventory, err = readR(name, text); err != nil {
			return err
		}
	}
	w, err := jgf.New(rv1reader.NewInventory(inventory), jgf.Options{Cluster: o.cluster})
	if err != nil {
		// It says jgf already.
		return err
	}
	out, err := w.FromR(r)
	if err != nil {
		return err
	}
	if o.whole {
		if out, err = rv1reader.SetScheduling(data, out); err != nil {
			return fmt.Errorf("jgf: %s: %w", name, err)
		}
	}
	if _, err := fmt.Fprintf(a.out, "%s\n", out); err != nil {
		return fmt.Errorf("jgf: %w", err)
	}
	return nil
}

// readR refuses an R with faults, and names them.
func readR(name string, data []byte) (*rv1reader.R, error) {
	r, err := rv1reader.Read(data)
	if err == nil {
		return r, nil
	}
	n := lint.Faults(err)
	if m, ok := err.(*multierror.Error); ok {
		err = m.Errors[0]
	}
	if n > 1 {
		return nil, fmt.Errorf("jgf: %s: %w (of %s: flux burrow check)", name, err, lint.Count(n, "fault"))
	}
	return nil, fmt.Errorf("jgf: %s: %w", name, err)
}
