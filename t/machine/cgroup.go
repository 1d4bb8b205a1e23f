// SPDX-License-Identifier: LGPL-3.0-or-later

package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

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
