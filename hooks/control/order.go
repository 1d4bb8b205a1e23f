// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"errors"
	"fmt"
	"strings"
)

// check refuses an order that no controller could carry out.
func (o Order) check() error {
	switch {
	case o.Verb != Start && o.Verb != Stop:
		return fmt.Errorf("%s %s: the verb of an order is start or stop", o.Verb, o.Unit)
	case o.Unit == "" || strings.ContainsAny(o.Unit, "/ \t\n\x00"):
		return fmt.Errorf("%s %q: not the name of a unit", o.Verb, o.Unit)
	case o.Timeout <= 0:
		return fmt.Errorf("%s %s: a timeout of %s leaves no time for it", o.Verb, o.Unit, o.Timeout)
	}
	return nil
}

// failed puts verb and unit before a reason. ErrAbsent stays what it is: it is
// an answer, not a failure.
func (o Order) failed(err error) error {
	if err == nil || errors.Is(err, ErrAbsent) {
		return err
	}
	return fmt.Errorf("%s %s: %w", o.Verb, o.Unit, err)
}
