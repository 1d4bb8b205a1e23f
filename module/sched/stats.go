// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"time"

	"flux-burrow/module/sched/resource"
)

// maxWarnings is how many warnings of the recovery the report keeps.
const maxWarnings = 64

// counters count since the module was loaded.
type counters struct {
	Alloc        int `json:"alloc"`
	Success      int `json:"success"`
	Annotate     int `json:"annotate"`
	Deny         int `json:"deny"`
	Cancel       int `json:"cancel"`
	FreeFinal    int `json:"free_final"`
	FreePartial  int `json:"free_partial"`
	FreeUnknown  int `json:"free_unknown"`
	LostFrees    int `json:"free_lost"`
	Prioritize   int `json:"prioritize"`
	Expiration   int `json:"expiration"`
	Feasibility  int `json:"feasibility"`
	Passes       int `json:"passes"`
	Commits      int `json:"commits"`
	CommitErrors int `json:"commit_errors"`
	MaxBatch     int `json:"commit_jobs_max"`
}

// helloReport says how the recovery went.
type helloReport struct {
	Source    string             `json:"source"`        // of R: "job-manager" or "kvs"
	Jobs      int                `json:"recovered"`     // jobs taken over
	Fenced    int                `json:"fenced"`        // of these, with fenced nodes
	Lost      int                `json:"lost_jobs"`     // ended before ready
	LostRanks int                `json:"lost_ranks"`    // nodes freed before ready, of jobs that live
	Late      int                `json:"late"`          // named by the second hello only
	Total     float64            `json:"seconds"`       // from the hello to ready
	Steps     map[string]float64 `json:"step_seconds"`  // by phase
	Warnings  []string           `json:"warnings"`      // one for each job in doubt
	Untold    int                `json:"warnings_more"` // not in the list
}

type stats struct {
	count   counters
	hello   helloReport
	changes map[string]int
	since   time.Time // of the phase
	turn    timing    // of passes: one turn of the reactor
	write   timing
}

// timing is how long something took, in seconds.
type timing struct {
	Last float64 `json:"last"`
	Max  float64 `json:"max"`
	Sum  float64 `json:"sum"`
}

func (t *timing) add(d time.Duration) {
	t.Last = d.Seconds()
	t.Max = max(t.Max, t.Last)
	t.Sum += t.Last
}

func newStats() stats {
	return stats{
		changes: map[string]int{},
		hello:   helloReport{Steps: map[string]float64{}, Warnings: []string{}},
		since:   time.Now(),
	}
}

func (s *stats) enter(from, to Phase, now time.Time) {
	if from > Idle && from < Ready {
		s.hello.Steps[from.String()] = now.Sub(s.since).Seconds()
	}
	s.since = now
}

func (s *stats) change(key string) { s.changes[key]++ }

func (s *stats) warn(text string) {
	if len(s.hello.Warnings) == maxWarnings {
		s.hello.Untold++
		return
	}
	s.hello.Warnings = append(s.hello.Warnings, text)
}

func (s *stats) recovered(d time.Duration, memory bool) {
	s.hello.Total = d.Seconds()
	s.hello.Source = "kvs"
	if memory {
		s.hello.Source = "job-manager"
	}
}

func (s *stats) passed(started int) {
	s.count.Passes++
	s.count.MaxBatch = max(s.count.MaxBatch, started)
}

func (s *stats) committed(d time.Duration, err error) {
	s.count.Commits++
	if err != nil {
		s.count.CommitErrors++
	}
	s.write.add(d)
}

// queueReport is what holds for a queue, in the words of the configuration.
type queueReport struct {
	Policy           string        `json:"policy"`
	ReservationDepth depthText     `json:"reservation_depth"`
	NodeExclusive    NodeExclusive `json:"node_exclusive"`
}

// Report is the answer to stats-get.
type Report struct {
	State string `json:"state"`
	queueReport
	Match      string                 `json:"match"`
	QueueDepth int                    `json:"queue_depth"` // 0: unlimited
	Writer     string                 `json:"writer"`
	LogLevel   string                 `json:"log_level"`
	Queues     map[string]queueReport `json:"queues"` // those with something of their own
	Pending    int                    `json:"pending"`
	Allocated  int                    `json:"allocated"`
	Nodes      resource.Tally         `json:"nodes"`
	Hello      helloReport            `json:"hello"`
	Count      counters               `json:"count"`
	Changes    map[string]int         `json:"resource_changes"`
	Pass       timing                 `json:"pass_seconds"` // one turn of the reactor
	Commit     timing                 `json:"commit_seconds"`
}

// Report returns what the engine has done and where it is.
func (e *Engine) Report() Report {
	r := Report{
		State: e.phase.String(), queueReport: e.config.report(""), Match: e.config.Match.String(),
		QueueDepth: e.config.QueueDepth, Writer: e.config.Writer.String(), LogLevel: e.config.LogLevel.String(),
		Queues: map[string]queueReport{}, Pending: e.queue.Len(), Hello: e.stats.hello,
		Count: e.stats.count, Changes: e.stats.changes, Pass: e.stats.turn, Commit: e.stats.write,
	}
	for name := range e.config.Queues {
		r.Queues[name] = e.config.report(name)
	}
	if e.pool != nil {
		r.Allocated, r.Nodes = e.pool.Jobs(), e.pool.Tally()
	}
	return r
}

func (c Config) report(queue string) queueReport {
	return queueReport{c.PolicyOf(queue).String(), depthText(c.DepthOf(queue)), c.ExclusiveOf(queue)}
}

// statsWait is how long a stats-get waits for the recovery to be over: who
// asks wants to know how it went. Then the answer says how far it is.
const statsWait = 5 * time.Second

type waitingStats struct {
	request Request
	timer   Timer
}

func (e *Engine) onStats(_ string, r Request) {
	if e.phase == Ready {
		e.sendStats(r)
		return
	}
	w := waitingStats{request: r.Keep()}
	w.timer = e.host.After(statsWait, e.answerStats)
	e.statsFor = append(e.statsFor, w)
}

func (e *Engine) answerStats() {
	for _, w := range e.statsFor {
		e.sendStats(w.request)
	}
	e.dropStats()
}

func (e *Engine) dropStats() {
	for _, w := range e.statsFor {
		w.timer.Stop()
		w.request.Release()
	}
	e.statsFor = nil
}

func (e *Engine) sendStats(r Request) {
	b, err := json.Marshal(e.Report())
	if err != nil {
		e.respondError(r, err)
		return
	}
	e.respond(r, string(b))
}
