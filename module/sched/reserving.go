// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"fmt"
	"math"
	"syscall"
	"time"

	"flux-burrow/module/sched/reserve"
)

// Advance reservations. The book of them is in the KVS, and the engine has a
// copy: it is read while the hello goes on, and a change is made on a clone
// that takes the copy's place once the KVS has it. So what fails changes
// nothing. Requests are answered in order, one at a time.

// Times of reservations.
const (
	// readLimit is how long ready waits for the book.
	readLimit = 10 * time.Second
	// lookEvery is how long a begin or an end may stay unseen when the clock
	// was set, or the machine was suspended.
	lookEvery = time.Minute
	// forgetAfter is how long one that is over is still kept in the KVS: the
	// clock may have been set wrong, and be set right again.
	forgetAfter = time.Hour
)

// reserving is what the engine keeps besides the book itself.
type reserving struct {
	read    bool   // the book is what the KVS had
	reading bool   // the KVS is being asked
	then    func() // waits for the answer, for readLimit at most
	limit   Timer
	again   Timer // of the next try to read

	asks    []*reserveAsk // not yet done; the first may be on its way to the KVS
	writing bool
	repair  Timer // of another write, after one that failed

	edge   Timer // of the next look at the clock
	forget Timer
	looked float64 // the time at the last look
	pool   uint64  // generation of the pool for which the book is resolved
}

// reserveAsk is a request, or a change of the engine's own.
type reserveAsk struct {
	request Request                     // nil: the engine's own
	change  func(b *reserve.Book) error // nil: nothing is changed
	answer  func() (payload any)        // what there is to say once it is done
}

// readReservations asks the KVS for the book.
func (e *Engine) readReservations() {
	r := &e.reserving
	if r.reading {
		return
	}
	r.reading = true
	stopTimer(&r.again)
	if e.phase != Ready {
		r.limit = e.host.After(readLimit, func() {
			stopTimer(&r.limit)
			e.log(Warning, "%s: no answer from the KVS in %s: going on without advance reservations until there is one", reserve.Key, readLimit)
			e.resume()
		})
	}
	e.host.Lookup(reserve.Key, func(value string, err error) {
		if e.phase == Stopped {
			return
		}
		r.reading = false
		stopTimer(&r.limit)
		e.takeReservations(value, err)
		e.resume()
	})
}

// awaitReservations tells whether the book is still being read; then is called
// when it is not, or when that takes too long.
func (e *Engine) awaitReservations(then func()) bool {
	r := &e.reserving
	if !r.reading || r.limit == nil {
		return false
	}
	r.then = then
	return true
}

func (e *Engine) resume() {
	if then := e.reserving.then; then != nil {
		e.reserving.then = nil
		then()
	}
}

func (e *Engine) takeReservations(value string, err error) {
	r := &e.reserving
	if err != nil && !errnoIs(err, syscall.ENOENT) {
		// Nothing may be written while it is not known what is there.
		e.log(Warning, "%s: %s: going on without advance reservations, trying again in %s", reserve.Key, err, lookEvery)
		r.again = e.host.After(lookEvery, e.readReservations)
		asks := r.asks
		r.asks = nil
		for _, a := range asks {
			a.fail(e, coded{syscall.EAGAIN, fmt.Sprintf("what is reserved could not be read from the KVS: %s", err)})
		}
		return
	}
	r.read = true
	if err == nil {
		book, faults := reserve.Decode(value)
		for _, fault := range faults {
			e.log(Err, "%s: %s", reserve.Key, fault)
		}
		e.reservations = book
		e.resolveNow()
		e.reservationsChanged()
	}
	e.nextReserve()
}

// reservationsChanged is called whenever something else is reserved than was
// before.
func (e *Engine) reservationsChanged() {
	e.watchClock()
	e.block()
}

// resolveReservations follows a change of the inventory or of properties.
func (e *Engine) resolveReservations() {
	if e.reserving.pool != e.pool.Generation() && e.resolveNow() {
		e.reservationsChanged()
	}
}

func (e *Engine) resolveNow() (changed bool) {
	e.reserving.pool = e.pool.Generation()
	for _, r := range e.reservations.Resolve(reservable{e.pool}) {
		changed = true
		switch {
		case r.Missing != "":
			e.log(Warning, "reservation %s: not in the instance: %s; it has rank %s", r.Name, r.Missing, r.Ranks)
		case r.Ranks.Empty():
			e.log(Warning, "reservation %s: it has no nodes", r.Name)
		default:
			e.log(Debug, "reservation %s: it has rank %s", r.Name, r.Ranks)
		}
	}
	return changed
}

// watchClock arms the timer of the next begin or end.
func (e *Engine) watchClock() {
	r := &e.reserving
	stopTimer(&r.edge)
	if e.phase == Stopped || e.reservations.Len() == 0 {
		return
	}
	now := e.host.Now()
	r.looked = now
	wait := min(math.Ceil((e.reservations.Next(now)-now)*1e3)/1e3, lookEvery.Seconds())
	r.edge = e.host.After(time.Duration(wait*float64(time.Second)), e.lookAtClock)
	e.forgetLater(now)
}

// lookAtClock sees which reservations began or ended since the last look. A
// clock that was set back makes them wait again.
func (e *Engine) lookAtClock() {
	crossed := false
	now := e.host.Now()
	for _, r := range e.reservations.List() {
		if was, is := r.State(e.reserving.looked), r.State(now); was != is {
			crossed = true
			e.log(Debug, "reservation %s is %s, was %s", r.Name, is, was)
		}
	}
	e.watchClock()
	if crossed {
		e.block()
	}
}

// forgetLater has those that are over at two times that are forgetAfter apart
// taken out of the KVS.
func (e *Engine) forgetLater(now float64) {
	r := &e.reserving
	over := map[*reserve.Reservation]bool{}
	for _, o := range e.reservations.List() {
		if o.State(now) == reserve.Over {
			over[o] = true
		}
	}
	if r.forget != nil || len(over) == 0 {
		return
	}
	r.forget = e.host.After(forgetAfter, func() {
		stopTimer(&r.forget)
		e.queueReserve(&reserveAsk{change: func(b *reserve.Book) error {
			now := e.host.Now()
			for o := range over {
				if o.State(now) == reserve.Over && b.Get(o.Name) == o {
					_ = b.Remove(o.Name) // it is there
				}
			}
			return nil
		}})
	})
}

func (e *Engine) queueReserve(a *reserveAsk) {
	e.reserving.asks = append(e.reserving.asks, a)
	e.nextReserve()
}

// nextReserve does what is asked for, up to the next change: that goes on when
// the KVS has it.
func (e *Engine) nextReserve() {
	r := &e.reserving
	for e.phase == Ready && !r.writing && len(r.asks) > 0 {
		if !r.read {
			e.readReservations()
			return
		}
		a := r.asks[0]
		if a.change == nil {
			r.asks = r.asks[1:]
			a.done(e)
			continue
		}
		book := e.reservations.Clone()
		if err := a.change(&book); err != nil {
			r.asks = r.asks[1:]
			a.fail(e, err)
			continue
		}
		e.writeReservations(book)
	}
}

// writeReservations makes book the book of the first of asks.
func (e *Engine) writeReservations(book reserve.Book) {
	r := &e.reserving
	r.writing = true
	e.host.Commit([]Entry{{reserve.Key, book.Encode()}}, func(err error) {
		if e.phase == Stopped {
			return
		}
		r.writing = false
		a := r.asks[0]
		r.asks = r.asks[1:]
		if err != nil {
			e.log(Err, "%s: could not be written: %s", reserve.Key, err)
			e.repairLater()
			a.fail(e, coded{errnoOf(err), fmt.Sprintf("the KVS did not take it: %s", err)})
		} else {
			stopTimer(&r.repair)
			e.reservations = book
			e.resolveNow() // the nodes may have changed meanwhile
			e.reservationsChanged()
			a.done(e)
		}
		e.nextReserve()
	})
}

// repairLater writes the book once more: the KVS may have made a change that it
// seemed to refuse, and who asked was told that it was not made.
func (e *Engine) repairLater() {
	r := &e.reserving
	stopTimer(&r.repair)
	r.repair = e.host.After(lookEvery, func() {
		stopTimer(&r.repair)
		e.queueReserve(&reserveAsk{change: func(*reserve.Book) error { return nil }})
	})
}

// stopReserving ends it. A change that is on its way may be made or not.
func (e *Engine) stopReserving() {
	r := &e.reserving
	for _, t := range []*Timer{&r.limit, &r.again, &r.repair, &r.edge, &r.forget} {
		stopTimer(t)
	}
	for i, a := range r.asks {
		text := "the scheduler was ended before this was done"
		if i == 0 && r.writing {
			text = "the scheduler was ended while this was written: look whether it is there"
		}
		a.fail(e, coded{syscall.ECANCELED, text})
	}
	r.asks, r.then = nil, nil
}

func (a *reserveAsk) done(e *Engine) {
	if a.request == nil {
		return
	}
	e.respondJSON(a.request, a.answer())
	a.request.Release()
}

func (a *reserveAsk) fail(e *Engine, err error) {
	if a.request == nil {
		return
	}
	e.respondError(a.request, err)
	a.request.Release()
}
