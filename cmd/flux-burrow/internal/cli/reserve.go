// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/client"
	"flux-burrow/cmd/flux-burrow/internal/reservations"
	"flux-burrow/cmd/flux-burrow/internal/term"
	"flux-burrow/hooks/config"
	"flux-burrow/hooks/wire"
	"flux-burrow/module/sched/constraint"
	"flux-burrow/module/sched/reserve"
)

func (a *app) reserve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reserve add|list|remove",
		Short: "Set nodes aside for a time: advance reservations",
		Long: "Set nodes aside from a time, for a time, for maintenance or for some users;\n" +
			"see ADVANCE RESERVATIONS in sched-burrow(7).",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("reserve: %s: no such command", args[0])
			}
			return usagef("reserve: a command is missing: add, list or remove")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	for _, sub := range []*cobra.Command{a.reserveAdd(), a.reserveList(), a.reserveRemove()} {
		sub.DisableFlagsInUseLine = true
		cmd.AddCommand(sub)
	}
	return cmd
}

// reserveOptions are the flags of reserve add, as given.
type reserveOptions struct {
	nodes, ranks, requires  string
	start, duration, reason string
	users                   string
}

func (a *app) reserveAdd() *cobra.Command {
	var o reserveOptions
	cmd := &cobra.Command{
		Use:   "add NAME --nodes HOSTS|--ranks RANKS|--requires CONSTRAINT --start TIME --duration FSD [--users USERS] [--reason TEXT]",
		Short: "Make a reservation",
		Long: "Make the reservation NAME. Without users it is maintenance: no job runs in it.\n" +
			"Jobs that already run past its beginning are listed, and left alone.\n\n" +
			"TIME is now, +FSD, HH:MM, \"YYYY-MM-DD HH:MM[:SS]\" or a time of RFC 3339.",
		Args: takes(1, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error { return a.runReserveAdd(args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.nodes, "nodes", "", "the nodes: a hostlist `HOSTS`")
	f.StringVar(&o.ranks, "ranks", "", "the nodes: an idset of `RANKS`")
	f.StringVar(&o.requires, "requires", "", "the nodes: those with a property, or an RFC 31 `CONSTRAINT` as JSON")
	f.StringVar(&o.start, "start", "", "`TIME` of the beginning")
	f.StringVar(&o.duration, "duration", "", "how long, as a Flux Standard Duration (`FSD`)")
	f.StringVar(&o.users, "users", "", "names or ids of those who may use it, with commas: `USERS`")
	f.StringVar(&o.reason, "reason", "", "`TEXT` for people")
	return cmd
}

func (a *app) runReserveAdd(name string, o reserveOptions) error {
	q, err := o.request(name, time.Now())
	if err != nil {
		return usagef("reserve add: %w", err)
	}
	if q.Users, err = userIDs(o.users); err != nil {
		return fmt.Errorf("reserve add: --users: %w", err)
	}
	var r reserve.AddResponse
	if _, err := a.askReserve("reserve add", "reserve-add", wire.Encode(q), &r); err != nil {
		return err
	}
	return a.told("reserve add", reservations.WriteAdded(a.out, &r, a.reserveShown()))
}

// request makes the payload of what the flags say.
func (o *reserveOptions) request(name string, now time.Time) (*reserve.AddRequest, error) {
	q := &reserve.AddRequest{Name: name, Reason: o.reason}
	given := 0
	for _, s := range []string{o.nodes, o.ranks, o.requires} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, errors.New("it takes one of --nodes, --ranks and --requires")
	case o.nodes != "":
		q.Nodes = o.nodes
	case o.ranks != "":
		set, err := ranks("--ranks", o.ranks)
		if err != nil {
			return nil, err
		}
		q.Nodes = set.String()
	default:
		var err error
		if q.Constraint, err = requires(o.requires); err != nil {
			return nil, err
		}
	}
	if o.start == "" {
		return nil, errors.New("--start is missing")
	}
	start, err := when(o.start, now)
	if err != nil {
		return nil, fmt.Errorf("--start %q: %w", o.start, err)
	}
	q.Start = seconds(start)
	if o.duration == "" {
		return nil, errors.New("--duration is missing")
	}
	d, err := config.ParseFSD(o.duration)
	if err != nil {
		return nil, fmt.Errorf("--duration %q: %w", o.duration, err)
	}
	if d == 0 {
		return nil, fmt.Errorf("--duration %q: a reservation lasts more than 0 seconds, and ends", o.duration)
	}
	q.Duration = d.Seconds()
	return q, nil
}

// requires makes a constraint of a property's name; JSON is one already.
func requires(s string) (json.RawMessage, error) {
	text := s
	if !strings.HasPrefix(strings.TrimSpace(s), "{") {
		text = wire.Encode(map[string][]string{"properties": {s}})
	}
	if _, err := constraint.Parse([]byte(text)); err != nil {
		return nil, fmt.Errorf("--requires: %w", err)
	}
	return json.RawMessage(text), nil
}

// userIDs finds users by name; a number that is nobody's name is an id.
func userIDs(list string) ([]int64, error) {
	var ids []int64
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		text := name
		u, err := user.Lookup(name)
		if err == nil {
			text = u.Uid
		}
		id, numErr := strconv.ParseUint(text, 10, 32)
		if numErr != nil {
			if err == nil {
				err = numErr
			}
			return nil, err
		}
		ids = append(ids, int64(id))
	}
	if len(ids) == 0 && list != "" {
		return nil, fmt.Errorf("%q names nobody", list)
	}
	return ids, nil
}

// userName is what a user is shown as.
func userName(id int64) string {
	text := strconv.FormatInt(id, 10)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}

func (a *app) reserveList() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the reservations, by their beginning",
		Args:  takes(0),
		RunE:  func(*cobra.Command, []string) error { return a.runReserveList(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the scheduler's answer as JSON")
	return cmd
}

func (a *app) runReserveList(asJSON bool) error {
	var r reserve.ListResponse
	answer, err := a.askReserve("reserve list", "reserve-list", "{}", &r)
	switch {
	case err != nil:
		return err
	case asJSON:
		_, err = fmt.Fprintln(a.out, answer)
	default:
		err = reservations.Write(a.out, r.Reservations, a.reserveShown())
	}
	return a.told("reserve list", err)
}

func (a *app) reserveRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a reservation, begun or not",
		Args:  takes(1, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			var r reserve.RemoveResponse
			_, err := a.askReserve("reserve remove", "reserve-remove", wire.Encode(reserve.RemoveRequest{Name: args[0]}), &r)
			return err
		},
	}
}

func (a *app) reserveShown() reservations.Options {
	return reservations.Options{ASCII: term.ASCII(), Color: term.Color(a.out), Zone: time.Local, User: userName}
}

// askReserve asks the scheduler. What it refuses is told in its own words.
func (a *app) askReserve(what, method, payload string, to any) (string, error) {
	c, err := a.open(what)
	if err != nil {
		return "", err
	}
	defer c.Close()
	topic := "sched-burrow." + method
	answer, err := c.RPC(leader, topic, payload)
	var e *client.Error
	switch {
	case errors.As(err, &e) && e.Text != "" && e.Num != syscall.ENOSYS && e.Num != syscall.EPERM && e.Num != syscall.EHOSTUNREACH && e.Num != syscall.ETIMEDOUT:
		return "", fmt.Errorf("%s: %s", what, e.Text)
	case err != nil:
		return "", explain(what, err, noSched)
	}
	if err := json.Unmarshal([]byte(answer), to); err != nil {
		return "", fmt.Errorf("%s: %s: bad answer: %w", what, topic, err)
	}
	return answer, nil
}

// told names the command in the error of its output.
func (a *app) told(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
