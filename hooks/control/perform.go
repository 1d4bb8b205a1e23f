// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// perform carries out an order over D-Bus. Where the bus or systemd goes away
// under it, it is given again over a new link: systemd merges an order with
// one of the same kind that it still has, and an order that was carried out
// meanwhile is done at once.
func (s *systemd) perform(o Order) error {
	ctx, cancel := context.WithTimeout(s.ctx, o.Timeout)
	defer cancel()
	pause := backoff{}
	for {
		err := s.attempt(ctx, o)
		if !isLost(err) {
			return o.failed(err)
		}
		if !pause.wait(ctx) {
			return o.failed(fmt.Errorf("systemd was not reached in %s: %s", o.Timeout, explain(err)))
		}
	}
}

// attempt carries out an order over one link.
func (s *systemd) attempt(ctx context.Context, o Order) error {
	l, err := s.acquire(ctx)
	if err != nil {
		return lost(err)
	}
	w, err := l.watch(ctx, o.Unit)
	if err != nil {
		return l.judge(ctx, o, nil, err)
	}
	if state, _ := w.state(); state == Absent {
		return ErrAbsent
	}
	if o.Verb == Start && w.masked() {
		return errMasked(o.Unit)
	}
	result, err := l.job(ctx, o, w)
	if err == nil {
		err = l.outcome(ctx, o, w, result)
	}
	var limit limitError
	if errors.As(err, &limit) && l.mgr.ResetFailedUnitContext(ctx, o.Unit) == nil {
		// Short jobs start a service more often than systemd's limit for one
		// that keeps crashing allows. The limit is not meant for orders.
		if result, err = l.job(ctx, o, w); err == nil {
			err = l.outcome(ctx, o, w, result)
		}
	}
	return l.judge(ctx, o, w, err)
}

// job asks systemd for the change and waits for the result of its job. Mode
// "replace" ends a job of the opposite kind; a start of a unit that is on its
// way down waits in systemd until it is there.
func (l *link) job(ctx context.Context, o Order, w *watched) (string, error) {
	w.expect()
	defer w.expectNoMore()
	ask := l.mgr.StartUnitContext
	if o.Verb == Stop {
		ask = l.mgr.StopUnitContext
	}
	id, err := ask(ctx, o.Unit, "replace", nil)
	if err != nil {
		return "", err
	}
	return w.result(ctx, uint32(id), l.bus.Context().Done())
}

// outcome tells whether the unit is as wanted now that the job is over. A
// job's "done" is not enough: a start is "done" too where a condition of the
// unit had systemd skip it, and of a simple service as soon as it was forked.
func (l *link) outcome(ctx context.Context, o Order, w *watched, result string) error {
	// systemd tells a unit's change before the end of the job that made it
	// (bus_job_send_removed_signal), so as a rule there is nothing to ask.
	want := map[Verb]State{Start: Up, Stop: Down}[o.Verb]
	if state, known := w.state(); known && result == "done" && state == want {
		return nil
	}
	if err := l.refresh(ctx, w); err != nil {
		return err
	}
	state, _ := w.state()
	if o.Verb == Stop {
		switch {
		case state == Down || state == Absent:
			return nil
		case result == "done":
			return fmt.Errorf("stopped, but %s again: something else started it", w.words())
		}
		return fmt.Errorf("%s, the unit is %s", jobResult(result), w.words())
	}
	if state == Up {
		return nil
	}
	return l.notUp(ctx, o.Unit, w, result)
}

// judge puts an error of the bus into words, or finds that it means the link.
func (l *link) judge(ctx context.Context, o Order, w *watched, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && w != nil:
		return fmt.Errorf("not done after %s, the unit is %s", o.Timeout, w.words())
	case ctx.Err() != nil:
		return fmt.Errorf("no answer from systemd in %s", o.Timeout)
	case !l.alive() || isLost(err):
		return lost(err)
	}
	return refusal(o, err)
}

// backoff is the pause between tries to reach the bus.
type backoff struct {
	next time.Duration
}

const (
	backoffFirst = 20 * time.Millisecond
	backoffLast  = 2 * time.Second
)

// wait pauses, each time longer. It is false when ctx ended first.
func (b *backoff) wait(ctx context.Context) bool {
	b.next = min(max(2*b.next, backoffFirst), backoffLast)
	t := time.NewTimer(b.next)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
