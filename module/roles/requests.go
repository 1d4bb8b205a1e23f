// SPDX-License-Identifier: LGPL-3.0-or-later

package roles

import (
	flux "flux-burrow/cgo"
)

// requests are those that are not answered yet. Each is answered once: by who
// has it, or at the end.
type requests struct {
	h    *flux.Handle
	kept map[*flux.Request]struct{}
}

func newRequests(h *flux.Handle) requests {
	return requests{h: h, kept: map[*flux.Request]struct{}{}}
}

// answer gives a request to a function that replies once, now or later.
func (r *requests) answer(req *flux.Request, fn func(payload string, reply func(string, error))) {
	payload, err := req.Payload()
	if err != nil {
		r.respond(req, "", err)
		return
	}
	kept := req.Keep()
	r.kept[kept] = struct{}{}
	returned := false
	defer func() {
		if !returned {
			// A panic: who catches it answers.
			r.forget(kept)
		}
	}()
	fn(payload, func(answer string, err error) {
		if _, ok := r.kept[kept]; ok {
			r.respond(kept, answer, err)
			r.forget(kept)
		}
	})
	returned = true
}

func (r *requests) forget(kept *flux.Request) {
	if _, ok := r.kept[kept]; ok {
		delete(r.kept, kept)
		kept.Release()
	}
}

func (r *requests) respond(req *flux.Request, answer string, err error) {
	if req.NoResponse() {
		return
	}
	if err != nil {
		err = req.RespondError(err)
	} else {
		err = req.Respond(answer)
	}
	if err != nil {
		r.h.Log(flux.LogErr, "%s: can't respond: %v", req.Topic(), err)
	}
}

// end answers all that are left with an error.
func (r *requests) end(err error) {
	for kept := range r.kept {
		r.respond(kept, "", err)
		r.forget(kept)
	}
}
