// SPDX-License-Identifier: LGPL-3.0-or-later

package policy

import (
	"math"
	"sort"
	"time"

	"flux-burrow/hooks/jobid"
	"flux-burrow/module/sched/queue"
	"flux-burrow/module/sched/resource"
)

// Reservation is the place that a waiting job is to have.
type Reservation struct {
	Job        *queue.Job
	Start, End float64
	*resource.Pick

	checked uint64 // version of the plan at which there was no earlier place
}

// lateness is by how much a job may start later than planned and still have its
// place, in seconds: it then ends that much later.
const lateness = 1.0

// Block is an advance reservation as plans see it: whole nodes for a time.
type Block struct {
	Name       string
	Nodes      resource.Bits
	Start, End float64
	Users      []int64
}

// admits tells whether a user's jobs may run inside.
func (b *Block) admits(user int64) bool {
	for _, u := range b.Users {
		if u == user {
			return true
		}
	}
	return false
}

// Plan is what is kept from one pass to the next: the reservations, and what
// is known of the shapes that did not fit.
//
// The version counts what may let a job fit that did not before: something
// became free, a node came up, a reservation went. A shape that did not fit at
// the present version is passed over.
type Plan struct {
	pool    *resource.Pool
	version uint64

	passed uint64 // version at which the whole queue was last looked at
	rounds int    // passes since something changed from outside

	list     []*Reservation // in order of the queue
	of       map[jobid.ID]*Reservation
	hopeless map[jobid.ID]bool // no time will do for them, as things are

	horizon float64              // stands for ends that are not known
	overdue map[jobid.ID]float64 // assumed ends of jobs past their limits
	blocks  []Block
	rules   queue.Rules
	// expiration is when the instance ends; 0 if it does not.
	expiration float64

	built   bool // prof is up to date
	prof    profile
	up      resource.Bits
	search  search
	scratch *resource.State
	windows map[int]*window
	starts  []float64 // of reservations and blocks, rising
	wake    float64   // when something begins or ends by itself

	queues map[string]*queueState

	forecast forecast
	spent    time.Duration // on places, in this pass
}

// queueState is how far a queue is in a pass; it is kept for jobs that come
// after.
type queueState struct {
	rule  Rule
	first *queue.Job // the first that did not fit
	have  int        // reservations
}

// blocks tells whether a job is kept back by one before it.
func (q *queueState) blocks(job *queue.Job) bool {
	return q.rule.Kind == FIFO && q.first != nil && q.first != job && queue.Before(q.first, job)
}

// NewPlan makes the plan of a pool.
func NewPlan(pool *resource.Pool) *Plan {
	p := &Plan{pool: pool, version: 1, of: map[jobid.ID]*Reservation{}, overdue: map[jobid.ID]float64{}}
	p.search.profile = &p.prof
	return p
}

// Loosen is called after anything but the arrival of a job: what is free, up,
// wanted or configured has changed.
func (p *Plan) Loosen() {
	p.version++
	p.rounds = 0
	p.hopeless = nil
}

// SetBlocks replaces the advance reservations.
func (p *Plan) SetBlocks(blocks []Block) {
	p.blocks = blocks
	p.Loosen()
}

// Block returns an advance reservation; nil if there is none of that name.
func (p *Plan) Block(name string) *Block {
	for i := range p.blocks {
		if p.blocks[i].Name == name {
			return &p.blocks[i]
		}
	}
	return nil
}

// Reservations returns the reservations of waiting jobs in order of the queue.
func (p *Plan) Reservations() []*Reservation { return p.list }

// Wake returns when the next pass should be at the latest; 0 if time alone
// changes nothing.
func (p *Plan) Wake() float64 { return p.wake }

// known tells whether a time is not just the horizon.
func (p *Plan) known(t float64) bool { return t < p.horizon-year/2 }

// build makes the profile, once in a pass and only if it is needed.
func (p *Plan) build(now float64, q *queue.Queue) {
	if p.built {
		return
	}
	p.built = true
	p.up = p.pool.Up()
	if now > p.horizon-year*3/4 {
		p.horizon = now + year
	}
	p.prof.reset(p.pool, now)
	p.wake = 0
	p.runs(now)
	for i := range p.blocks {
		b := &p.blocks[i]
		for node := range b.Nodes.All() {
			p.prof.add(node, b.Start, b.End, step{blocks: 1})
		}
		p.wakeAt(now, b.Start)
		p.wakeAt(now, b.End)
	}
	p.keep(now, q)
	p.changed()
}

// runs puts the ends of running jobs into the profile.
func (p *Plan) runs(now float64) {
	for id := range p.overdue {
		if p.pool.Alloc(id) == nil {
			delete(p.overdue, id)
		}
	}
	p.pool.Each(func(a *resource.Alloc) {
		end := p.end(a, now)
		if end < p.horizon {
			p.wakeAt(now, end)
		}
		for node, free := range a.Held {
			p.prof.add(node, end, math.Inf(1), step{c: free[0], g: free[1]})
		}
		for _, node := range a.Fences {
			p.prof.add(int(node), end, math.Inf(1), step{fences: -1})
		}
	})
}

// end returns when a running job is taken to end. One that is past its limit
// is taken to last as long again as it is overdue.
func (p *Plan) end(a *resource.Alloc, now float64) float64 {
	switch {
	case a.Expiration == 0:
		delete(p.overdue, a.ID)
		return p.horizon
	case a.Expiration > now:
		delete(p.overdue, a.ID)
		return a.Expiration
	}
	at := p.overdue[a.ID]
	if at <= now {
		at = now + math.Max(1, now-a.Expiration)
		p.overdue[a.ID] = at
	}
	return at
}

func (p *Plan) wakeAt(now, at float64) {
	if at > now && (p.wake == 0 || at < p.wake) {
		p.wake = at
	}
}

// keep puts the reservations of the pass before into the profile. From the
// first on that does not hold any more they are dropped.
func (p *Plan) keep(now float64, q *queue.Queue) {
	ordered := sort.SliceIsSorted(p.list, func(i, k int) bool { return queue.Before(p.list[i].Job, p.list[k].Job) })
	if !ordered {
		p.cutAtDisorder()
	}
	kept := p.list[:0]
	for n, r := range p.list {
		if q.Get(r.Job.ID) != r.Job { // it was cancelled, or has started
			p.drop(r)
			continue
		}
		if !p.holds(r, now) {
			for _, r := range p.list[n:] {
				p.drop(r)
			}
			break
		}
		kept = append(kept, r)
	}
	clear(p.list[len(kept):])
	p.list = kept
}

// cutAtDisorder drops all reservations from the first place on where the order
// of priority is another now.
func (p *Plan) cutAtDisorder() {
	sorted := append([]*Reservation(nil), p.list...)
	sort.Slice(sorted, func(i, k int) bool { return queue.Before(sorted[i].Job, sorted[k].Job) })
	for n := range sorted {
		if sorted[n] != p.list[n] {
			p.forget(n)
			return
		}
	}
}

// forget drops the reservations from the nth on, which are not in the profile.
func (p *Plan) forget(n int) {
	for _, r := range p.list[n:] {
		p.drop(r)
	}
	clear(p.list[n:])
	p.list = p.list[:n]
}

// drop forgets a reservation that is not in the profile, but for the list.
func (p *Plan) drop(r *Reservation) {
	delete(p.of, r.Job.ID)
	r.Job.Reserved = false
	p.version++
}

// holds puts a reservation into the profile; false if it has no place there.
func (p *Plan) holds(r *Reservation, now float64) bool {
	if r.Start < now {
		// A timer that comes a little late costs no job its place.
		if r.Start < now-lateness {
			return false
		}
		r.Start = now
	}
	sc, fault := r.Job.Check(p.pool, p.rules)
	if fault != nil {
		return false
	}
	sp, within, ok := p.span(r.Job, sc.Within, now)
	if !ok || sp.duration == 0 && r.End != sp.end(r.Start) {
		return false // its end was that of the instance or of an advance reservation
	}
	sc.Within = within
	for _, t := range r.Takes {
		i := int(t.Node)
		c, g := p.prof.room(i, r.Start, r.End, sp.inside)
		if !p.up.Has(i) || sc.Within != nil && !sc.Within.Has(i) || c < t.Cores || g < t.GPUs {
			return false
		}
	}
	p.put(r, -1)
	p.wakeAt(now, r.Start)
	return true
}

// put takes what a reservation has out of the profile, or with sign 1 gives it
// back.
func (p *Plan) put(r *Reservation, sign int32) {
	for _, t := range r.Takes {
		p.prof.add(int(t.Node), r.Start, r.End, step{c: sign * t.Cores, g: sign * t.GPUs})
		if sign > 0 {
			p.prof.join(int(t.Node))
		}
	}
}

// reserve adds a reservation, which is in the profile, in its place by order.
func (p *Plan) reserve(r *Reservation) {
	at := sort.Search(len(p.list), func(i int) bool { return queue.Before(r.Job, p.list[i].Job) })
	p.list = append(p.list, nil)
	copy(p.list[at+1:], p.list[at:])
	p.list[at] = r
	p.of[r.Job.ID] = r
	r.Job.Reserved = true
	p.wakeAt(p.prof.now, r.Start)
	p.changed()
}

// remove drops one reservation that is in the profile.
func (p *Plan) remove(r *Reservation) {
	p.put(r, 1)
	p.unlist(r)
}

// unlist drops one reservation that is not in the profile.
func (p *Plan) unlist(r *Reservation) {
	for i := range p.list {
		if p.list[i] == r {
			p.list = append(p.list[:i], p.list[i+1:]...)
			break
		}
	}
	p.drop(r)
	p.changed()
}

// dropBehind drops the reservations of all jobs that come after one.
func (p *Plan) dropBehind(job *queue.Job) {
	at := sort.Search(len(p.list), func(i int) bool { return queue.Before(job, p.list[i].Job) })
	if at == len(p.list) {
		return
	}
	for _, r := range p.list[at:] {
		p.put(r, 1)
	}
	p.forget(at)
	p.changed()
}
