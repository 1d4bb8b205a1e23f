// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"flux-burrow/cmd/flux-burrow/internal/chart"
	"flux-burrow/cmd/flux-burrow/internal/client"
	"flux-burrow/cmd/flux-burrow/internal/term"
	"flux-burrow/hooks/jobid"
)

type timelineOptions struct {
	svg, eventlog string
	width         int
}

func (a *app) timeline() *cobra.Command {
	var o timelineOptions
	cmd := &cobra.Command{
		Use:   "timeline [--svg FILE] JOBID",
		Short: "Show a job's windows and holds against time",
		Long: "Show against time the windows of a job, the holds on its prolog and epilog,\n" +
			"and its tasks. JOBID is in any form that Flux writes. With --eventlog the\n" +
			"events come from a file, as 'flux job info JOBID eventlog' writes it, and\n" +
			"no Flux is needed.",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.eventlog != "" {
				return takes(0, "JOBID")(cmd, args)
			}
			return takes(1, "JOBID")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.runTimeline(args, o) },
	}
	cmd.Flags().StringVar(&o.svg, "svg", "", "write an SVG to `FILE`, or to standard output for -")
	cmd.Flags().StringVar(&o.eventlog, "eventlog", "", "read the events from `FILE`, or from standard input for -")
	cmd.Flags().IntVar(&o.width, "width", 0, "columns of the text; default: those of the terminal")
	return cmd
}

func (a *app) runTimeline(args []string, o timelineOptions) error {
	name, log, now, err := a.eventlog(args, o)
	if err != nil {
		return err
	}
	c, err := chart.Read(name, log, now)
	if err != nil {
		return fmt.Errorf("timeline: eventlog of job %s: %w", name, err)
	}
	switch {
	case o.svg == "-":
		err = c.SVG(a.out)
	case o.svg != "":
		err = writeFile(o.svg, c)
	default:
		if o.width <= 0 {
			o.width = term.Width(a.out)
		}
		err = c.Text(a.out, chart.TextOptions{Width: o.width, ASCII: term.ASCII(), Color: term.Color(a.out)})
	}
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return nil
}

// eventlog gets the events from where the options say, the job's name, and the
// time until which an active job's chart goes: 0 for its last event.
func (a *app) eventlog(args []string, o timelineOptions) (name, log string, now float64, err error) {
	var id jobid.ID
	if len(args) > 0 {
		if id, err = jobid.Parse(args[0]); err != nil {
			return "", "", 0, usagef("timeline: %w", err)
		}
		name = id.Text(term.ASCII() && o.svg == "")
	}
	if o.eventlog != "" {
		data, file, err := a.read(o.eventlog)
		if err != nil {
			return "", "", 0, fmt.Errorf("timeline: %w", err)
		}
		if name == "" {
			name = filepath.Base(file)
		}
		return name, string(data), 0, nil
	}
	c, err := a.open("timeline")
	if err != nil {
		return "", "", 0, err
	}
	defer c.Close()
	log, err = lookup(c, id)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return "", "", 0, fmt.Errorf("timeline: %s: no such job in this instance", name)
	case errors.Is(err, syscall.EPERM):
		return "", "", 0, fmt.Errorf("timeline: %s: only the job's user and the instance owner may (%w)", name, syscall.EPERM)
	case err != nil:
		return "", "", 0, explain("timeline", err, "")
	}
	return name, log, float64(time.Now().UnixMicro()) / 1e6, nil
}

// lookup reads a job's eventlog: by job-info, which lets users read those of
// their own jobs, or from the KVS where that is not loaded.
func lookup(c *client.Client, id jobid.ID) (string, error) {
	payload := fmt.Sprintf(`{"id":%d,"keys":["eventlog"],"flags":0}`, id)
	answer, err := c.RPC(client.Any, "job-info.lookup", payload)
	if errors.Is(err, syscall.ENOSYS) {
		return c.Lookup(id.Key("eventlog"))
	}
	if err != nil {
		return "", err
	}
	var r struct {
		Eventlog string `json:"eventlog"`
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		return "", fmt.Errorf("job-info.lookup: bad answer: %w", err)
	}
	return r.Eventlog, nil
}

func writeFile(path string, c *chart.Chart) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := c.SVG(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
