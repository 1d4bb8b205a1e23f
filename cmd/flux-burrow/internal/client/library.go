// SPDX-License-Identifier: LGPL-3.0-or-later

package client

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// library is the shared object that is loaded; its version is that of the
// interface, which has been the same for years.
const library = "libflux-core.so.2"

// candidates lists what to load, in order: what the dynamic linker finds,
// then the library beside the commands of the flux that runs this program,
// then that of the flux on PATH. getenv and look are os.Getenv and
// exec.LookPath.
func candidates(getenv func(string) string, look func(string) (string, error)) []string {
	list := []string{library}
	add := func(prefix string) {
		for _, dir := range []string{"lib", "lib64"} {
			list = append(list, filepath.Join(prefix, dir, library))
		}
		if dirs, err := filepath.Glob(filepath.Join(prefix, "lib", "*-linux-gnu*")); err == nil {
			for _, dir := range dirs {
				list = append(list, filepath.Join(dir, library))
			}
		}
	}
	for _, dir := range filepath.SplitList(getenv("FLUX_EXEC_PATH")) {
		// PREFIX/libexec/flux/cmd
		if strings.HasSuffix(filepath.Clean(dir), "libexec/flux/cmd") {
			add(filepath.Join(dir, "..", "..", ".."))
		}
	}
	if path, err := look("flux"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		add(filepath.Join(filepath.Dir(path), ".."))
	}
	return list
}

// load loads the first of the candidates that can be.
func load(try func(path string) error) error {
	var first error
	for _, path := range candidates(os.Getenv, exec.LookPath) {
		if filepath.IsAbs(path) {
			if _, err := os.Stat(path); err != nil {
				continue
			}
		}
		err := try(path)
		if err == nil {
			return nil
		}
		// A library that is there and can't be loaded says more than one that
		// is not.
		if first == nil || filepath.IsAbs(path) {
			first = err
		}
	}
	return fmt.Errorf("flux-core is not installed here, or not found: %w", first)
}
