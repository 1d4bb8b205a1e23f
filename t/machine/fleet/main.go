// SPDX-License-Identifier: LGPL-3.0-or-later

// Command fleet runs a command beside machines that have a real systemd each:
//
//	fleet [-n COUNT] [-unit NAME]... COMMAND [ARG...]
//
// Each -unit is a service on each machine that sleeps. The command finds the
// machines' system buses as $BUSES/0, $BUSES/1 and so on, to be connected to as
// unix:path=$BUSES/0. It ends with the command's status, or with 77 where there
// can be no such machines.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"flux-burrow/t/machine"
)

func main() {
	machine.Role()
	status, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
	}
	os.Exit(status)
}

func run() (status int, err error) {
	units := machine.Units{Files: map[string]string{
		machine.Target: "[Unit]\nDefaultDependencies=no\nWants=dbus.service\n",
	}}
	count := flag.Int("n", 1, "how many `machines`")
	flag.Func("unit", "a service of this `NAME` that sleeps", func(name string) error {
		units.Files[name] = machine.Service("ExecStart=/bin/sleep infinity")
		return nil
	})
	flag.Parse()
	if flag.NArg() == 0 {
		return 2, errors.New("which command?")
	}
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	for i := range *count {
		logs := filepath.Join(dir, "log", strconv.Itoa(i))
		if err := os.MkdirAll(logs, 0o755); err != nil {
			return 1, err
		}
		m, err := machine.Boot(logs, units)
		var unfit machine.Unfit
		switch {
		case errors.As(err, &unfit):
			return 77, err
		case err != nil:
			return 1, err
		}
		defer m.Stop()
		if err := os.Symlink(strings.TrimPrefix(m.Bus(), "unix:path="), filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return 1, err
		}
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Env = append(os.Environ(), "BUSES="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
