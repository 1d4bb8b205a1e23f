// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"syscall"

	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// acquirer is a scheduler that has the instance's resources (acquire.c).
type acquirer struct {
	m       *Msg
	valid   *idset.Set // what it was given: ranks of R that are not excluded
	up      map[int]bool
	removed map[int]bool // by shrink
	mute    bool
}

// acquireRequest: one scheduler at a time; the first answer has all, the
// later ones what changed.
func (r *resource) acquireRequest(q *Request) {
	if !q.Streaming() {
		q.RespondError(syscall.EPROTO, "")
		return
	}
	if len(r.acquire) > 0 {
		q.RespondError(syscall.EBUSY, "")
		return
	}
	resources := r.inventory()
	given, err := rv1reader.Read([]byte(resources))
	if err != nil {
		q.RespondError(syscall.EINVAL, "")
		return
	}
	if len(r.exclude) > 0 { // they are no part of what it gets
		given = given.RemoveRanks(idset.New(r.exclude...))
		resources = string(given.Encode())
	}
	q.Msg.incref()
	a := &acquirer{m: q.Msg, valid: given.Ranks, up: map[int]bool{}, removed: map[int]bool{}}
	var up []int
	for rank, b := range r.in.brokers {
		// What was lost before it asked is not up, and not told of again.
		a.removed[rank] = r.in.opts.Shrink && !b.up
		if a.valid.Contains(rank) && r.usable(rank) {
			a.up[rank] = true
			up = append(up, rank)
		}
	}
	r.acquire = append(r.acquire, a)
	q.Respond(fmt.Sprintf(`{"resources":%s,"up":%s}`, resources, quote(encodeIDs(up))))
}

// release ends the stream of one who has acquired: with an error, or without a
// word where it is gone.
func (r *resource) release(which func(*acquirer) bool, num syscall.Errno, text string) {
	for i, a := range r.acquire {
		if which(a) {
			r.acquire = append(r.acquire[:i:i], r.acquire[i+1:]...)
			if num != 0 {
				r.self().respondError(a.m, num, text)
			}
			a.m.decref()
			return
		}
	}
}

// notify tells who acquired what went up or down.
func (r *resource) notify() {
	for _, a := range r.acquire {
		if a.mute {
			continue
		}
		var up, down, shrink []int
		for rank, b := range r.in.brokers {
			if !a.valid.Contains(rank) {
				continue
			}
			if r.in.opts.Shrink && !b.up && !a.removed[rank] {
				a.removed[rank] = true
				shrink = append(shrink, rank)
			}
			if a.removed[rank] && !a.up[rank] {
				continue
			}
			if ok := r.usable(rank); ok != a.up[rank] {
				a.up[rank] = ok
				if ok {
					up = append(up, rank)
				} else {
					down = append(down, rank)
				}
			}
		}
		s := ""
		for _, part := range []struct {
			key   string
			ranks []int
		}{{"up", up}, {"down", down}, {"shrink", shrink}} {
			if len(part.ranks) > 0 {
				s += "," + quote(part.key) + ":" + quote(encodeIDs(part.ranks))
			}
		}
		if s != "" {
			r.self().respond(a.m, "{"+s[1:]+"}", true)
		}
	}
	if r.in.allocator != nil {
		r.in.allocator.kick()
	}
}

// ReloadResources replaces the inventory by another R, as `flux resource reload
// -f` does: not while a scheduler has it. From then on ranks that are lost are
// taken from the scheduler, the inventory not being the configuration's
// (inventory.c, acquire.c).
func (in *Instance) ReloadResources(r string) error {
	if len(in.resource.acquire) > 0 {
		return &Error{Num: syscall.EBUSY, Text: "resources are busy (unload scheduler?)"}
	}
	in.opts.R, in.opts.Shrink = r, true
	return nil
}

// ReloadResourceModule is `flux module reload resource`: it reads
// resource.exclude anew, and has the drains from its eventlog. A scheduler that
// has the resources loses them.
func (in *Instance) ReloadResourceModule() {
	r := in.resource
	r.release(func(*acquirer) bool { return true }, syscall.ECANCELED, "the resource module was unloaded")
	r.exclude = r.excluded()
}
