// SPDX-License-Identifier: LGPL-3.0-or-later

package client

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Error is a request that failed. It unwraps to its errno.
type Error struct {
	Num syscall.Errno
	// Text is what the service said; may be empty.
	Text string
	// What was asked, a topic or a key.
	What  string
	Limit time.Duration
}

func (e *Error) Error() string {
	switch {
	case e.Num == syscall.ETIMEDOUT:
		return fmt.Sprintf("%s: no answer in %v (see --timeout)", e.What, e.Limit)
	case e.Text != "":
		return fmt.Sprintf("%s: %s", e.What, e.Text)
	}
	return fmt.Sprintf("%s: %s", e.What, e.Num.Error())
}

// Unwrap gives the errno.
func (e *Error) Unwrap() error { return e.Num }

// openError says why there is no connection.
func openError(num syscall.Errno) error {
	uri := os.Getenv("FLUX_URI")
	if uri != "" {
		return fmt.Errorf("no broker answers at FLUX_URI=%s: %w", uri, num)
	}
	if errors.Is(num, syscall.EACCES) || errors.Is(num, syscall.EPERM) {
		return fmt.Errorf("FLUX_URI is not set, and the system instance refuses the connection: %w", num)
	}
	return fmt.Errorf("not in a Flux instance: FLUX_URI is not set, and there is no system instance here: %w", num)
}
