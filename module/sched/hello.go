// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// Sizes of the recovery.
const (
	batchSize = 512 // jobs in one request for R
	inFlight  = 64  // KVS look-ups on their way at once
)

// was is a job that had resources before this scheduler.
type was struct {
	id   jobid.ID
	free *idset.Set // ranks that are freed already; nil for none
	r    *rv1reader.R
	err  error // why r is not to be relied on
	// fromKVS tells that r is as it was at the start of the job: a later
	// expiration is in the job's eventlog only.
	fromKVS bool
	lost    bool     // where it is is not known from r
	why     []string // what is in doubt, not yet told
}

// recovery is the state of the way to ready.
type recovery struct {
	jobs   []*was
	byID   map[jobid.ID]*was
	unsent []*was // not yet asked for
	open   int    // batches on their way

	streamed bool // the hello stream is over
	noHooks  bool // nobody answers for R in memory
	look     lookups
	lost     []*was // to be located
	doubted  []*was // to be warned of
	books    *books
	begin    time.Time
}

func (e *Engine) startHello() {
	e.enter(Hello)
	e.recovery = &recovery{byID: map[jobid.ID]*was{}, begin: time.Now()}
	e.recovery.look = lookups{host: e.host, limit: inFlight}
	e.host.Stream("job-manager.sched-hello", `{"partial-ok":true}`, e.onHello)
}

// onHello takes the stream of jobs that have resources. Their R are asked for
// in batches while the stream goes on; no look-up waits for another.
func (e *Engine) onHello(payload string, err error) {
	if e.phase != Hello {
		return
	}
	r := e.recovery
	if errnoIs(err, syscall.ENODATA) {
		r.streamed = true
		e.enter(Read)
		e.askR()
		e.maybeRead()
		return
	}
	if err != nil {
		e.fail("job-manager.sched-hello", err)
		return
	}
	w, err := readHello(payload)
	if err != nil {
		e.log(Err, "job-manager.sched-hello: %s", err)
		return
	}
	if r.byID[w.id] != nil {
		e.log(Err, "job-manager.sched-hello: %s comes twice", w.id)
		return
	}
	r.byID[w.id] = w
	r.jobs = append(r.jobs, w)
	r.unsent = append(r.unsent, w)
	if len(r.unsent) == batchSize {
		e.askR()
	}
}

func readHello(payload string) (*was, error) {
	v := gjson.Parse(payload)
	id, err := field(v, "id")
	if err != nil {
		return nil, err
	}
	w := &was{id: jobid.ID(id)}
	if free := v.Get("free"); free.Exists() {
		if w.free, err = idset.Parse(free.Str); err != nil {
			// All of it counts as held then, until the final free.
			return w, nil
		}
	}
	return w, nil
}

// askR asks for the R of the jobs that were not asked for.
func (e *Engine) askR() {
	r := e.recovery
	batch := r.unsent
	r.unsent = nil
	if len(batch) == 0 {
		return
	}
	if r.noHooks {
		e.lookUpR(batch)
		return
	}
	b := append(make([]byte, 0, 20*len(batch)), `{"ids":[`...)
	for i, w := range batch {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(w.id), 10)
	}
	r.open++
	e.host.Call("job-manager.burrow.running-R", string(append(b, "]}"...)), func(payload string, err error) {
		if e.phase == Stopped {
			return
		}
		r.open--
		e.onRunning(batch, payload, err)
		e.maybeRead()
	})
}

// onRunning takes R out of the job manager's memory. What is not in the answer
// is looked for in the KVS.
func (e *Engine) onRunning(batch []*was, payload string, err error) {
	r := e.recovery
	if err != nil {
		if !r.noHooks && !errnoIs(err, syscall.ENOSYS) {
			e.log(Warning, "job-manager.burrow.running-R: %s: reading R from the KVS", err)
		}
		r.noHooks = true
		e.lookUpR(batch)
		return
	}
	gjson.Get(payload, "R").ForEach(func(key, value gjson.Result) bool {
		id, err := strconv.ParseUint(key.Str, 10, 64)
		if w := r.byID[jobid.ID(id)]; err == nil && w != nil && value.IsObject() {
			w.r, w.err = readR(value.Raw)
		}
		return true
	})
	var rest []*was
	for _, w := range batch {
		if w.r == nil || w.err != nil {
			rest = append(rest, w)
		}
	}
	e.lookUpR(rest)
}

func (e *Engine) lookUpR(batch []*was) {
	r := e.recovery
	if r.streamed && len(batch) > 0 {
		e.askBooks() // meanwhile
	}
	for _, w := range batch {
		r.look.add(w.id.Key("R"), func(value string, err error) {
			if e.phase == Stopped {
				return
			}
			w.take(value, err)
			e.maybeRead()
		})
	}
}

// take reads R as it is in the KVS.
func (w *was) take(value string, err error) {
	if err != nil {
		if errnoIs(err, syscall.ENOENT) {
			err = errors.New("there is no R in the KVS")
		}
		if w.r == nil {
			w.err = err
		}
		return
	}
	w.fromKVS = true
	w.r, w.err = readR(value)
}

// oneLine makes one line of what may be a list of faults.
func oneLine(err error) string {
	var several interface{ WrappedErrors() []error }
	text := err.Error()
	if errors.As(err, &several) && len(several.WrappedErrors()) > 0 {
		list := several.WrappedErrors()
		text = list[0].Error()
		if len(list) > 1 {
			text += fmt.Sprintf(" (and %d more)", len(list)-1)
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

// maybeRead goes on once everything that was asked for has come.
func (e *Engine) maybeRead() {
	r := e.recovery
	if e.phase == Read && r.streamed && r.open == 0 && r.look.idle() {
		e.restore()
	}
}
