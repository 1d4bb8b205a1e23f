// SPDX-License-Identifier: LGPL-3.0-or-later

// Package sched is the scheduler of the module sched-burrow, without Flux: the
// protocols of RFC 27 (with the job manager) and RFC 28 (with the resource
// module) as a machine that is driven by callbacks and acts through a [Host].
//
// # Life
//
//	acquire   resource.acquire was sent; the first answer brings the inventory
//	hello     job-manager.sched-hello streams the jobs that have resources
//	read      their R is fetched, out of the job manager's memory by one request
//	          per batch where burrow's hooks are loaded, out of the KVS where
//	          they are not
//	locate    jobs whose R can't be read are asked about elsewhere
//	announce  job-manager.sched-ready was sent
//	ready     jobs are scheduled
//	stopped   Stop was called, or a request without which nothing works failed
//
// The job manager drops what it has to say while no scheduler is ready. So once
// ready, the hello is asked a second time: a job of the first that the second
// does not name ended in between and is freed.
//
// # Configuration
//
// keys.go has every key of [sched-burrow], which is every argument; table.go
// and args.go read either to Settings, Merge makes a Config of both, Configure
// has the engine go by a new one.
//
// # Packages
//
//	jobid       ids as text
//	jobspec     what a job asks for
//	constraint  on which nodes
//	resource    what there is, who holds it, where a request fits
//	queue       the jobs that wait, in order
//	policy      which of them start now
//	reserve     advance reservations
//
// Everything runs on the thread that calls the Engine. Nothing here blocks.
package sched
