// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"flux-burrow/cmd/flux-burrow/internal/client"
)

// What to do about a service that is not there.
const (
	noAgent = "burrow agent is not loaded on the leader: flux module load burrow"
	noHooks = "burrow's jobtap plugin is not loaded: flux jobtap load burrow.so"
	noSched = "the scheduler is not sched-burrow: flux module load sched-burrow"
)

// explain says what an error of a service means for who asked. missing is the
// text for a service that is not there.
func explain(what string, err error, missing string) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", what, err)
	}
	switch {
	case e.Num == syscall.ENOSYS && strings.HasPrefix(e.Text, "burrow "):
		// The service is there and says that it does not serve.
		return fmt.Errorf("%s: %s", what, e.Text)
	case e.Num == syscall.ENOSYS && missing != "":
		return fmt.Errorf("%s: %s", what, missing)
	case e.Num == syscall.EPERM:
		return fmt.Errorf("%s: %s: only the instance owner may: try it as that user (%w)", what, e.What, e.Num)
	case e.Num == syscall.EHOSTUNREACH:
		return fmt.Errorf("%s: %s: the leader can't be reached (%w)", what, e.What, e.Num)
	}
	return fmt.Errorf("%s: %w", what, err)
}
