// SPDX-License-Identifier: LGPL-3.0-or-later

// Package machine boots a real systemd with a real system bus, for tests and
// measurements that start and stop units. It lives in namespaces of its own, on
// an overlay of this machine's root whose upper layer is in memory, and leaves
// nothing behind.
//
// The program starts itself again as the first process of the new pid
// namespace (see [Role]), makes the mounts there, and becomes systemd. A
// systemd on the shared root would run systemd-tmpfiles and wipe /tmp: hence
// the root, the empty /run and /tmp, and the masked units. It gets a cgroup of
// its own, so that two machines at a time don't find each other's services.
package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	systemdPath = "/lib/systemd/systemd"
	// Target is the unit that systemd is started for.
	Target    = "mini.target"
	envRole   = "BURROW_TEST_ROLE"
	envCgroup = "BURROW_TEST_CGROUP"
	envUnits  = "BURROW_TEST_UNITS"
	bootLimit = 20 * time.Second
)

// Units are the unit files inside and the symlinks beside them, by file name.
// There is no basic.target that could ever be reached, so they are to be
// without default dependencies; see [Service].
type Units struct {
	Files, Links map[string]string
}

// Service is a unit file with these lines in its section Service.
func Service(lines ...string) string {
	return "[Unit]\nDefaultDependencies=no\n[Service]\n" + strings.Join(lines, "\n") + "\n"
}

// Machine is one that runs.
type Machine struct {
	PID  int    // of its systemd, seen from here
	Root string // its root directory, seen from here

	cgroup string
	log    string
	units  []byte
	end    chan struct{}
	over   chan struct{}
}

// Unfit says why there can be no machine here.
type Unfit string

func (u Unfit) Error() string { return string(u) }

// Role is to be called first by each program that boots machines: it does what
// the program was started for by itself, and ends it; else it returns.
func Role() {
	var err error
	switch os.Getenv(envRole) {
	case "init":
		err = becomeSystemd()
	case "sweep":
		err = withCgroups(sweepCgroup)
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Boot boots a machine. Its log goes to a file in dir. The error is an [Unfit]
// where there can be none. The caller ends it with Stop.
func Boot(dir string, units Units) (*Machine, error) {
	if os.Geteuid() != 0 {
		return nil, Unfit("needs root, to make namespaces")
	}
	for _, p := range []string{systemdPath, "/usr/bin/dbus-daemon", "/usr/bin/nsenter"} {
		if _, err := os.Stat(p); err != nil {
			return nil, Unfit(fmt.Sprintf("needs systemd, dbus-daemon and nsenter: %v", err))
		}
	}
	text, err := json.Marshal(units)
	if err != nil {
		return nil, err
	}
	m := &Machine{end: make(chan struct{}), over: make(chan struct{}), units: text,
		cgroup: fmt.Sprintf("burrow-test-%d-%d", os.Getpid(), time.Now().UnixNano()),
		log:    filepath.Join(dir, "log")}
	started := make(chan error)
	go m.run(started)
	if err := <-started; err != nil {
		return nil, Unfit(fmt.Sprintf("needs namespaces of its own: %v", err))
	}
	if err := m.wait(); err != nil {
		m.Stop()
		return nil, err
	}
	return m, nil
}

// wait waits for systemd to be on its bus, which is there before it.
func (m *Machine) wait() error {
	for limit := time.Now().Add(bootLimit); ; time.Sleep(20 * time.Millisecond) {
		out, _ := m.Command("busctl", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus",
			"NameHasOwner", "s", "org.freedesktop.systemd1").Output()
		if string(bytes.TrimSpace(out)) == "b true" {
			return nil
		}
		select {
		case <-m.over:
			log, _ := os.ReadFile(m.log)
			if bytes.HasPrefix(log, []byte("machine: ")) {
				return Unfit(fmt.Sprintf("needs a root of its own: %s", log))
			}
			return fmt.Errorf("systemd ended:\n%s", log)
		default:
		}
		if time.Now().After(limit) {
			log, _ := os.ReadFile(m.log)
			return fmt.Errorf("no system bus after %v:\n%s", bootLimit, log)
		}
	}
}

// run has the machine from its start to its end. The kernel ends it with the
// thread that started it, so that thread stays here.
func (m *Machine) run(started chan<- error) {
	defer close(m.over)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	log, err := os.Create(m.log)
	if err != nil {
		started <- err
		return
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{envRole + "=init", envCgroup + "=" + m.cgroup, envUnits + "=" + string(m.units),
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	m.PID = cmd.Process.Pid
	m.Root = fmt.Sprintf("/proc/%d/root", m.PID)
	started <- nil
	ended := make(chan struct{})
	go func() {
		select {
		case <-m.end:
			_ = cmd.Process.Kill()
		case <-ended:
		}
	}()
	_ = cmd.Wait() // it was killed
	close(ended)
}

// Stop ends the machine and all that runs in it.
func (m *Machine) Stop() {
	close(m.end)
	<-m.over
	sweep := exec.Command("/proc/self/exe")
	sweep.Env = []string{envRole + "=sweep", envCgroup + "=" + m.cgroup}
	sweep.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	_ = sweep.Run() // an empty cgroup that stays does no harm
}

// Command is one that runs inside.
func (m *Machine) Command(argv ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"-t", strconv.Itoa(m.PID), "-a", "-r", "-w"}, argv...)...)
}

// Bus is the address of its system bus, seen from here.
func (m *Machine) Bus() string {
	return "unix:path=" + m.Root + "/run/dbus/system_bus_socket"
}
