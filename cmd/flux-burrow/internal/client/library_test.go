// SPDX-License-Identifier: LGPL-3.0-or-later

package client

import (
	"errors"
	"os/exec"
	"slices"
	"testing"
)

func TestCandidates(t *testing.T) {
	env := map[string]string{"FLUX_EXEC_PATH": "/home/x/build:/opt/f/libexec/flux/cmd/"}
	got := candidates(func(k string) string { return env[k] },
		func(string) (string, error) { return "/nowhere/bin/flux", nil })
	want := []string{
		"libflux-core.so.2",
		"/opt/f/lib/libflux-core.so.2", "/opt/f/lib64/libflux-core.so.2",
		"/nowhere/lib/libflux-core.so.2", "/nowhere/lib64/libflux-core.so.2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = candidates(func(string) string { return "" },
		func(string) (string, error) { return "", exec.ErrNotFound })
	if !slices.Equal(got, want[:1]) {
		t.Errorf("without flux: %q", got)
	}
}

func TestLoadSaysWhy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("FLUX_EXEC_PATH", "")
	cause := errors.New("no such file")
	if err := load(func(string) error { return cause }); !errors.Is(err, cause) {
		t.Error(err)
	}
	if err := load(func(string) error { return nil }); err != nil {
		t.Error(err)
	}
}
