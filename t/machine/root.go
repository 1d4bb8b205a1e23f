// SPDX-License-Identifier: LGPL-3.0-or-later

package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// masked are systemd's own units that would touch what the machine shares.
var masked = []string{"tmpfiles-setup", "tmpfiles-setup-dev", "sysctl", "remount-fs",
	"modules-load", "binfmt", "udevd", "random-seed", "update-utmp"}

// becomeSystemd makes a root of its own and becomes systemd. It is the first
// process of a pid namespace.
func becomeSystemd() error {
	runtime.LockOSThread() // A cgroup namespace is the thread's, until the exec.
	var units Units
	err := json.Unmarshal([]byte(os.Getenv(envUnits)), &units)
	if err == nil {
		err = makeRoot(units)
	}
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	os.Setenv("container", "other")
	os.Unsetenv(envRole)
	os.Unsetenv(envUnits)
	return fmt.Errorf("machine: %s: %w", systemdPath,
		syscall.Exec(systemdPath, []string{systemdPath, "--system", "--unit=" + Target, "--log-target=console"}, os.Environ()))
}

func makeRoot(units Units) error {
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

	dir := r + "/run/systemd/system"
	mkdir(dir)
	mkdir(r + "/run/lock")
	for name, text := range units.Files {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for name, target := range units.Links {
		errs = append(errs, os.Symlink(target, filepath.Join(dir, name)))
	}
	for _, name := range masked {
		errs = append(errs, os.Symlink("/dev/null", filepath.Join(dir, "systemd-"+name+".service")))
	}
	errs = append(errs, syscall.Chroot(r), os.Chdir("/"))
	return errors.Join(errs...)
}
