// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"
)

// errLost is what remains of a call whose link went away. The order is given
// again over a new one.
var errLost = errors.New("the connection to systemd was lost")

type lostError struct{ err error }

func (e lostError) Error() string   { return e.err.Error() }
func (e lostError) Unwrap() []error { return []error{errLost, e.err} }

// lost marks an error as one of the link.
func lost(err error) error { return lostError{err} }

// isLost tells whether an error is the link's: no bus, or no systemd on it.
func isLost(err error) bool {
	if errors.Is(err, errLost) || errors.Is(err, dbus.ErrClosed) {
		return true
	}
	var e dbus.Error
	if !errors.As(err, &e) {
		return false
	}
	switch strings.TrimPrefix(e.Name, "org.freedesktop.DBus.Error.") {
	case "NameHasNoOwner", "ServiceUnknown", "NoReply", "Disconnected", "NoServer":
		return true
	}
	// systemd is not started by the bus: trying to is how a bus without it
	// answers.
	return strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn.")
}

// limitError is a start that systemd refused because there were too many.
type limitError struct{ unit string }

func (e limitError) Error() string {
	return "systemd's start limit was hit (Result=start-limit-hit): let the polkit rule allow the verb" +
		" reset-failed, or set StartLimitIntervalSec=0 for " + e.unit
}

func errMasked(unit string) error {
	return fmt.Errorf("the unit is masked: systemctl unmask %s, or take it off [[burrow.services]]", unit)
}

// refusal puts systemd's or polkit's refusal of an order into words.
func refusal(o Order, err error) error {
	var e dbus.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Name {
	case "org.freedesktop.systemd1.NoSuchUnit":
		return ErrAbsent
	case "org.freedesktop.systemd1.UnitMasked":
		return errMasked(o.Unit)
	case "org.freedesktop.systemd1.LoadFailed", "org.freedesktop.systemd1.BadUnitSetting":
		return fmt.Errorf("the unit's file is bad: %s: see systemd-analyze verify %s", explain(err), o.Unit)
	case "org.freedesktop.DBus.Error.AccessDenied",
		"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired":
		return fmt.Errorf("not permitted (%s): put 50-flux-burrow.rules with this unit in it into"+
			" /etc/polkit-1/rules.d, and see that polkit.service runs", explain(err))
	}
	return errors.New(explain(err))
}

// explain is an error's text on one line. D-Bus errors without a text have
// their name for one.
func explain(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// jobResult puts the result of a job, see org.freedesktop.systemd1(5), into
// words.
func jobResult(result string) string {
	switch result {
	case "canceled":
		return "canceled by another request for the unit"
	case "timeout":
		return "systemd's own time limit for the job ran out (JobTimeoutSec)"
	case "assert":
		return "an Assert of the unit does not hold on this node"
	case "dependency":
		return "a unit that it depends on failed"
	}
	return result
}

// notUp tells why a unit is not up after its start. There is no error for a
// service that is meant to end by itself, and did well.
func (l *link) notUp(ctx context.Context, unit string, w *watched, result string) error {
	props, err := l.mgr.GetUnitPropertiesContext(ctx, unit)
	if err != nil {
		return err
	}
	kind := unit[strings.LastIndexByte(unit, '.')+1:]
	if kind != "" {
		kind = strings.ToUpper(kind[:1]) + kind[1:]
	}
	// A kind without such properties, or none at all, has no details to add.
	more, err := l.mgr.GetUnitTypePropertiesContext(ctx, unit, kind)
	if err != nil && (ctx.Err() != nil || !l.alive()) {
		return err
	}
	if more["Result"] == "start-limit-hit" {
		return limitError{unit}
	}
	if result == "done" && !w.is("failed", "") && !w.is("activating", "auto-restart") {
		switch {
		case w.wasSkipped() || conditionFailed(props["ConditionTimestamp"], props["ConditionResult"]):
			return fmt.Errorf("systemd skipped it: a Condition of the unit does not hold on this node (systemctl status %s)", unit)
		case more["Type"] == "oneshot" && more["Result"] == "success":
			return nil
		}
	}
	var b strings.Builder
	if result != "done" && result != "failed" {
		b.WriteString(jobResult(result) + ", ")
	}
	b.WriteString("the unit is " + w.words())
	for _, d := range details(more) {
		b.WriteString(", " + d)
	}
	b.WriteString(" (journalctl -u " + unit + ")")
	return errors.New(b.String())
}

// details tells how a unit's last run ended, by its Result and, of a service,
// how its main process did.
func details(props map[string]any) []string {
	var list []string
	if r, _ := props["Result"].(string); r != "" && r != "success" {
		list = append(list, "Result="+r)
	}
	code, _ := props["ExecMainCode"].(int32)
	status, _ := props["ExecMainStatus"].(int32)
	const exited, killed, dumped = 1, 2, 3 // CLD_* of waitid(2)
	switch {
	case code == exited && status == 203:
		list = append(list, "ExecMainStatus=203: its program can't be run")
	case code == exited && status != 0:
		list = append(list, fmt.Sprintf("ExecMainStatus=%d", status))
	case code == killed || code == dumped:
		list = append(list, fmt.Sprintf("killed by signal %d", status))
	}
	if text, _ := props["StatusText"].(string); text != "" {
		list = append(list, fmt.Sprintf("%q", text))
	}
	return list
}
