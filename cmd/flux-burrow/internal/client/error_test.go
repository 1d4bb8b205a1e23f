// SPDX-License-Identifier: LGPL-3.0-or-later

package client

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*Error{
		"burrow.status: no answer in 30s (see --timeout)": {Num: syscall.ETIMEDOUT, What: "burrow.status", Limit: 30 * time.Second},
		"burrow.status: burrow is not enabled":            {Num: syscall.ENOSYS, What: "burrow.status", Text: "burrow is not enabled"},
		"resource.R: operation not permitted":             {Num: syscall.EPERM, What: "resource.R"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
		if !errors.Is(e, e.Num) {
			t.Errorf("%q does not unwrap to %v", e.Error(), e.Num)
		}
	}
}

func TestOpenError(t *testing.T) {
	t.Setenv("FLUX_URI", "")
	if err := openError(syscall.ENOENT); !strings.Contains(err.Error(), "not in a Flux instance: FLUX_URI is not set") {
		t.Error(err)
	}
	if err := openError(syscall.EACCES); !strings.Contains(err.Error(), "refuses the connection") {
		t.Error(err)
	}
	t.Setenv("FLUX_URI", "local:///nowhere")
	if err := openError(syscall.ENOENT); !strings.Contains(err.Error(), "no broker answers at FLUX_URI=local:///nowhere") {
		t.Error(err)
	}
}
