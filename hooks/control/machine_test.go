// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A machine is a real systemd with a real system bus, for tests that start and
// stop units. It lives in namespaces of its own, on an overlay of this
// machine's root whose upper layer is in memory, and leaves nothing behind.
//
// The test binary starts itself again as the first process of the new pid
// namespace (see machineInit), makes the mounts there, and becomes systemd. A
// systemd on the shared root would run systemd-tmpfiles and wipe /tmp: hence
// the root, the empty /run and /tmp, and the masked units. It gets a cgroup of
// its own, so that two machines at a time don't find each other's services.
type machine struct {
	pid    int    // of its systemd, seen from here
	root   string // its root directory, seen from here
	cgroup string
	end    chan struct{}
	over   chan struct{}
	log    string
}

const (
	systemdPath = "/lib/systemd/systemd"
	envRole     = "BURROW_TEST_ROLE"
	envCgroup   = "BURROW_TEST_CGROUP"
)

// machineUnits are the units inside, by file name. All are without default
// dependencies: there is no basic.target that could ever be reached.
var machineUnits = map[string]string{
	"sleeper.service": service("ExecStart=/bin/sleep infinity"),
	"another.service": service("ExecStart=/bin/sleep infinity"),
	// mini.target names it, so that systemd keeps it, and counts its starts,
	// while it is down; as with a unit that is enabled.
	"limited.service": service("ExecStart=/bin/sleep infinity"),
	"failing.service": service("Type=oneshot", "ExecStart=/bin/sh -c 'exit 3'"),
	"oneshot.service": service("Type=oneshot", "ExecStart=/bin/true"),
	"missing.service": service("Type=exec", "ExecStart=/nonexistent/program"),
	"crash.service":   service("Type=oneshot", "ExecStart=/bin/sh -c 'kill -SEGV $$$$'"),
	"slow.service":    service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/sleep 30"),
	"slowish.service": service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/sleep 1", "ExecStop=/bin/sleep 1"),
	"hurt.service":    service("Type=notify", "TimeoutStartSec=300ms", "ExecStart=/bin/sleep infinity"),
	"needs.service":   "[Unit]\nDefaultDependencies=no\nRequires=failing.service\nAfter=failing.service\n[Service]\nExecStart=/bin/sleep infinity\n",
	"cond.service":    "[Unit]\nDefaultDependencies=no\nConditionPathExists=/nonexistent\n[Service]\nExecStart=/bin/sleep infinity\n",
	"bad.service":     "[Unit]\nDefaultDependencies=no\n[Service]\nType=nonsense\n",
	"assert.service":  "[Unit]\nDefaultDependencies=no\nAssertPathExists=/nonexistent\n[Service]\nExecStart=/bin/sleep infinity\n",
	"mini.target":     "[Unit]\nDefaultDependencies=no\nWants=dbus.service\nBefore=limited.service\n",
}

// machineLinks are the symlinks beside them.
var machineLinks = map[string]string{
	"masked.service": "/dev/null",
	"alias.service":  "sleeper.service",
}

var machineMasked = []string{"tmpfiles-setup", "tmpfiles-setup-dev", "sysctl", "remount-fs",
	"modules-load", "binfmt", "udevd", "random-seed", "update-utmp"}

func service(lines ...string) string {
	return "[Unit]\nDefaultDependencies=no\n[Service]\n" + strings.Join(lines, "\n") + "\n"
}

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(envRole) {
	case "":
		os.Exit(m.Run())
	case "init":
		err = machineInit()
	case "client":
		err = client(os.Args[1:])
	case "sweep":
		err = withCgroups(sweepCgroup)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bootMachine boots a machine for the test, or skips it where that can't be.
func bootMachine(t *testing.T) *machine {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a systemd of its own: not with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make namespaces")
	}
	for _, p := range []string{systemdPath, "/usr/bin/dbus-daemon", "/usr/bin/nsenter"} {
		if _, err := os.Stat(p); err != nil {
			t.Skipf("needs systemd, dbus-daemon and nsenter: %v", err)
		}
	}
	m := &machine{end: make(chan struct{}), over: make(chan struct{}),
		cgroup: fmt.Sprintf("burrow-test-%d-%d", os.Getpid(), time.Now().UnixNano()),
		log:    filepath.Join(t.TempDir(), "log")}
	started := make(chan error)
	go m.run(started)
	if err := <-started; err != nil {
		t.Skipf("needs namespaces of its own: %v", err)
	}
	t.Cleanup(m.stop)
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		// The bus is there before systemd is on it.
		out, _ := m.command("busctl", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", managerName).Output()
		if string(bytes.TrimSpace(out)) == "b true" {
			return m
		}
		select {
		case <-m.over:
			log, _ := os.ReadFile(m.log)
			if bytes.HasPrefix(log, []byte("machine: ")) {
				t.Skipf("needs a root of its own: %s", log)
			}
			t.Fatalf("systemd ended:\n%s", log)
		default:
		}
		if time.Now().After(limit) {
			log, _ := os.ReadFile(m.log)
			t.Fatalf("no system bus after 20 s:\n%s", log)
		}
	}
}

// run has the machine from its start to its end. The kernel ends it with the
// thread that started it, so that thread stays here.
func (m *machine) run(started chan<- error) {
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
	cmd.Env = []string{envRole + "=init", envCgroup + "=" + m.cgroup, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	m.pid = cmd.Process.Pid
	m.root = fmt.Sprintf("/proc/%d/root", m.pid)
	started <- nil
	ended := make(chan struct{})
	go func() {
		select {
		case <-m.end:
			cmd.Process.Kill()
		case <-ended:
		}
	}()
	cmd.Wait()
	close(ended)
}

func (m *machine) stop() {
	close(m.end)
	<-m.over
	sweep := exec.Command("/proc/self/exe")
	sweep.Env = []string{envRole + "=sweep", envCgroup + "=" + m.cgroup}
	sweep.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	sweep.Run()
}

// command is one that runs inside.
func (m *machine) command(argv ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"-t", strconv.Itoa(m.pid), "-a", "-r"}, argv...)...)
}

func (m *machine) must(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := m.command(argv...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bus is the address of its system bus, seen from here.
func (m *machine) bus() string {
	return "unix:path=" + m.root + "/run/dbus/system_bus_socket"
}

// machineInit makes a root of its own and becomes systemd. It is the first
// process of a pid namespace.
func machineInit() error {
	runtime.LockOSThread() // A cgroup namespace is the thread's, until the exec.
	if err := machineRoot(); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	os.Setenv("container", "other")
	os.Unsetenv(envRole)
	return fmt.Errorf("machine: %s: %w", systemdPath,
		syscall.Exec(systemdPath, []string{systemdPath, "--system", "--unit=mini.target", "--log-target=console"}, os.Environ()))
}

func machineRoot() error {
	const r = "/mnt/root"
	var errs []error
	mount := func(source, target, fstype string, flags uintptr, data string) {
		if err := syscall.Mount(source, target, fstype, flags, data); err != nil {
			errs = append(errs, fmt.Errorf("mount %s on %s: %w", fstype, target, err))
		}
	}
	mkdir := func(path string) { errs = append(errs, os.MkdirAll(path, 0o755)) }

	mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	errs = append(errs, withCgroups(enterCgroup), syscall.Unshare(0x02000000 /* CLONE_NEWCGROUP */))
	mount("tmpfs", "/mnt", "tmpfs", 0, "")
	mkdir("/mnt/upper")
	mkdir("/mnt/work")
	mkdir(r)
	mount("overlay", r, "overlay", 0, "lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work")
	mount("proc", r+"/proc", "proc", 0, "")
	mount("/proc/sys", r+"/proc/sys", "", syscall.MS_BIND, "")
	mount("", r+"/proc/sys", "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	mount("sysfs", r+"/sys", "sysfs", syscall.MS_RDONLY, "")
	if hybridCgroups() {
		cg := r + "/sys/fs/cgroup"
		mount("tmpfs", cg, "tmpfs", 0, "")
		mkdir(cg + "/systemd")
		mkdir(cg + "/unified")
		mount("cgroup2", cg+"/unified", "cgroup2", 0, "")
		mount("cgroup", cg+"/systemd", "cgroup", 0, "none,name=systemd,xattr")
	} else {
		mount("cgroup2", r+"/sys/fs/cgroup", "cgroup2", 0, "")
	}
	mount("/dev", r+"/dev", "", syscall.MS_BIND|syscall.MS_REC, "")
	mount("tmpfs", r+"/run", "tmpfs", 0, "mode=755")
	mount("tmpfs", r+"/tmp", "tmpfs", 0, "")

	units := r + "/run/systemd/system"
	mkdir(units)
	mkdir(r + "/run/lock")
	for name, text := range machineUnits {
		errs = append(errs, os.WriteFile(filepath.Join(units, name), []byte(text), 0o644))
	}
	for name, target := range machineLinks {
		errs = append(errs, os.Symlink(target, filepath.Join(units, name)))
	}
	for _, name := range machineMasked {
		errs = append(errs, os.Symlink("/dev/null", filepath.Join(units, "systemd-"+name+".service")))
	}
	errs = append(errs, syscall.Chroot(r), os.Chdir("/"))
	return errors.Join(errs...)
}

// hybridCgroups tells whether systemd keeps its groups in a hierarchy of the
// first version here.
func hybridCgroups() bool {
	text, _ := os.ReadFile("/proc/self/cgroup")
	return bytes.Contains(text, []byte(":name=systemd:"))
}

// withCgroups calls f with the directory of this process's cgroup in each
// hierarchy that systemd uses, mounted where nobody else sees it.
func withCgroups(f func(dir string) error) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		id, rest, _ := strings.Cut(line, ":")
		name, path, _ := strings.Cut(rest, ":")
		var err error
		switch {
		case name == "name=systemd":
			err = syscall.Mount("cgroup", "/mnt", "cgroup", 0, "none,name=systemd,xattr")
		case id == "0":
			err = syscall.Mount("cgroup2", "/mnt", "cgroup2", 0, "")
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("mount of cgroup %q: %w", line, err)
		}
		err = f(filepath.Join("/mnt", path, os.Getenv(envCgroup)))
		if err := errors.Join(err, syscall.Unmount("/mnt", 0)); err != nil {
			return err
		}
	}
	return nil
}

func enterCgroup(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0o644)
}

// sweepCgroup removes a cgroup whose processes are gone, the inner ones first.
func sweepCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, sweepCgroup(filepath.Join(dir, e.Name())))
		}
	}
	for try := 0; ; try++ {
		rm := syscall.Rmdir(dir)
		if rm == nil || try == 50 {
			return errors.Join(err, rm)
		}
		time.Sleep(10 * time.Millisecond) // Its last process is still ending.
	}
}

// copyInto puts a file of this machine into another's /run.
func (m *machine) copyInto(t *testing.T, from, name string, mode os.FileMode) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(m.root+"/run/"+name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
