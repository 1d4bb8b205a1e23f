// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/lint"
)

func (a *app) check() *cobra.Command {
	configFile := ""
	cmd := &cobra.Command{
		Use:   "check [--config FILE] [FILE]",
		Short: "Check an R, or the running instance's R and configuration",
		Long: "Check the R in FILE (- for standard input), or a configuration in TOML, and\n" +
			"say what is wrong and where. With neither, check the running instance's R\n" +
			"and configuration.",
		Args: takes(0, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.runCheck(args, configFile) },
	}
	cmd.Flags().StringVar(&configFile, "config", "", "check the configuration in `FILE` (TOML)")
	return cmd
}

func (a *app) runCheck(args []string, configFile string) error {
	var reports []lint.Report
	switch {
	case len(args) == 0 && configFile == "":
		found, err := a.instance()
		if err != nil {
			return err
		}
		reports = found
	default:
		if len(args) > 0 {
			data, name, err := a.read(args[0])
			if err != nil {
				return fmt.Errorf("check: %w", err)
			}
			reports = append(reports, lint.R(name, data))
		}
		if configFile != "" {
			data, name, err := a.read(configFile)
			if err != nil {
				return fmt.Errorf("check: %w", err)
			}
			reports = append(reports, lint.TOML(name, data))
		}
	}
	var failed []error
	for _, r := range reports {
		if _, err := fmt.Fprint(a.out, r.Text); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		if r.Faults > 0 {
			failed = append(failed, fmt.Errorf("check: %s: %s", r.Name, lint.Count(r.Faults, "fault")))
		}
	}
	if len(failed) > 1 {
		return fmt.Errorf("%w; %s", failed[0], failed[1])
	}
	return errors.Join(failed...)
}

// instance checks what the running instance has.
func (a *app) instance() ([]lint.Report, error) {
	c, err := a.open("check")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := c.Lookup(instanceKey)
	if err != nil {
		return nil, explain("check", err, "")
	}
	conf, err := c.RPC(leader, "config.get", "{}")
	if err != nil {
		return nil, explain("check", err, "")
	}
	return []lint.Report{
		lint.R("R of the instance ("+instanceKey+")", []byte(r)),
		lint.Config("configuration of the instance", []byte(conf)),
	}, nil
}
