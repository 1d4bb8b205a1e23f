// SPDX-License-Identifier: LGPL-3.0-or-later

// Package cli is the command line: a file for each command. What a command
// shows is made by packages beside this one, which know no Flux.
package cli

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/client"
	"flux-burrow/hooks/config"
)

// Version is the project's, as in configure.ac.
const Version = "0.1.0"

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

// app is what all commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	timeout  limit
}

// Run runs the command line with the arguments after the program's name, and
// returns its exit status.
func Run(args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, err: errs, timeout: limit(30 * time.Second)}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := root.ExecuteC()
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errs, "flux-burrow: %v\nTry '%s --help'.\n", err, cmd.CommandPath())
		return exitUsage
	case errors.Is(err, syscall.EPIPE):
		// Whoever read the output has seen enough.
		return exitFailed
	}
	fmt.Fprintf(errs, "flux-burrow: %v\n", err)
	return exitFailed
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "flux-burrow COMMAND",
		Short: "Look at and look after the windows of rabbit jobs",
		Long: "Look at and look after the services that mount rabbit file systems, and\n" +
			"the resource sets (R) of jobs. See flux-burrow(1).",
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "flux burrow"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%s: no such command", args[0])
			}
			return usagef("a command is missing")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	root.SetVersionTemplate("flux-burrow {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%w", err) })
	root.PersistentFlags().Var(&a.timeout, "timeout", "longest wait for an answer; 0: no limit")
	root.DisableFlagsInUseLine = true
	for _, cmd := range []*cobra.Command{a.status(), a.release(), a.timeline(), a.check(), a.jgf(), a.reserve()} {
		cmd.DisableFlagsInUseLine = true
		root.AddCommand(cmd)
	}
	return root
}

// open connects to the broker. what is the command, for the error.
func (a *app) open(what string) (*client.Client, error) {
	c, err := client.Open(time.Duration(a.timeout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return c, nil
}

// limit is a flag that takes a Flux Standard Duration.
type limit time.Duration

// String implements pflag.Value.
func (l *limit) String() string { return time.Duration(*l).String() }

// Set implements pflag.Value.
func (l *limit) Set(s string) error {
	d, err := config.ParseFSD(s)
	*l = limit(d)
	return err
}

// Type implements pflag.Value.
func (l *limit) Type() string { return "FSD" }
