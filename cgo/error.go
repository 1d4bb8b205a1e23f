// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

import (
	"errors"
	"syscall"
)

// Error is what libflux and its services report: an errno, and the text that
// came with it, if any. It compares with errors.Is by its errno.
type Error struct {
	Num  syscall.Errno
	Text string
}

func (e *Error) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return e.Num.Error()
}

// Unwrap gives the errno, so that errors.Is(err, syscall.ENOSYS) holds.
func (e *Error) Unwrap() error { return e.Num }

// Errno gives the errno that err carries, or fallback where it has none.
func Errno(err error, fallback syscall.Errno) syscall.Errno {
	var num syscall.Errno
	if errors.As(err, &num) && num != 0 {
		return num
	}
	return fallback
}

// failed wraps what cgo made of errno. A C function that failed without
// setting errno gives EINVAL.
func failed(err error) error {
	return &Error{Num: Errno(err, syscall.EINVAL)}
}
