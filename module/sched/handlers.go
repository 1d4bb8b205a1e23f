// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

// Handler is a request that the engine answers.
type Handler struct {
	// Topic is the whole topic; stats-get goes below the module's own name.
	Topic string
	// Own tells that Topic is below the module's own name.
	Own bool
	// Guests tells that any user may send it; else the instance owner only.
	Guests bool
	// Anytime tells that it changes nothing: it need not wait for a pass that
	// takes several turns.
	Anytime bool

	handle func(e *Engine, payload string, r Request)
}

// Services are the service names to register besides the module's own (RFC 27).
var Services = []string{"sched", "feasibility"}

// Handlers are all requests that the engine answers.
var Handlers = []Handler{
	{Topic: "sched.alloc", handle: (*Engine).onAlloc},
	{Topic: "sched.cancel", handle: (*Engine).onCancel},
	{Topic: "sched.free", handle: (*Engine).onFree},
	{Topic: "sched.prioritize", handle: (*Engine).onPrioritize},
	{Topic: "sched.expiration", handle: (*Engine).onExpiration},
	{Topic: "sched.resource-status", Guests: true, Anytime: true, handle: (*Engine).onStatus},
	{Topic: "feasibility.check", Guests: true, Anytime: true, handle: (*Engine).onFeasibility},
	{Topic: "stats-get", Own: true, Anytime: true, handle: (*Engine).onStats},
	{Topic: "reserve-add", Own: true, handle: (*Engine).onReserveAdd},
	{Topic: "reserve-list", Own: true, handle: (*Engine).onReserveList},
	{Topic: "reserve-remove", Own: true, handle: (*Engine).onReserveRemove},
}

// Handle takes a request for one of Handlers.
func (e *Engine) Handle(h *Handler, payload string, r Request) {
	if e.phase == Stopped {
		return // the broker answers for a module that is gone
	}
	if h.Anytime || e.passing == nil && len(e.inbox) == 0 {
		h.handle(e, payload, r)
		return
	}
	kept := r.Keep()
	e.later(func() {
		if e.phase != Stopped {
			h.handle(e, payload, kept)
		}
		kept.Release()
	})
}
