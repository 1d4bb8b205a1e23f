// SPDX-License-Identifier: LGPL-3.0-or-later

// Package embed is a Flux instance in one process: it defines the functions
// of libflux that burrow calls (cgo/abi/flux.h), so that a go test binary or
// a program without Flux links, and gives them their meaning in Go: brokers
// in a tree, modules, messages and RPC, events, the KVS, the job manager with
// its plugins, job execution, resources, and processes.
//
// It does only what was seen on a real Flux. Its own tests replay the
// scenarios of recorded/jobtap-*.jsonl and compare every callback; where a
// behaviour was read in flux-core's source a comment names the file.
//
// # Time and order
//
// Everything happens in the goroutine that calls into the Instance. Nothing
// runs by itself: [Instance.Step] makes the smallest step there is,
// [Instance.Run], [Instance.Advance] and [Instance.Settle] make many. Time is
// virtual and moves only when nothing else can be done. With Options.Seed 0
// all is first in, first out; with another seed every order that a real Flux
// leaves open is chosen by it: between messages of different senders, between
// timers of one moment, which job comes first where the job manager walks
// through its hash. The same seed gives the same history.
//
// Work in goroutines of the code under test reaches the loop by file
// descriptors (flux.Poster). They are polled when the loop is idle, before
// time moves. [Instance.WorkStarted] and [Instance.WorkDone] have the loop
// wait for such work, so that time does not run away from it.
//
// # Use
//
//	in := embed.New(embed.Options{Size: 4, Topology: "kary:2", Seed: 1, Config: toml})
//	defer in.Close()
//	p, err := in.LoadPlugin("burrow.so", conf, func(p *flux.Plugin) error { return roles.Hooks(p) })
//	m, err := in.LoadModule(rank, "burrow", args, func(h *flux.Handle, args []string) (func(), error) {
//		return roles.StartAgent(h, args)
//	})
//	d, err := in.DWS(embed.DWSOptions{SetupDelay: 200 * time.Millisecond})
//	id, err := in.Submit(embed.Jobspec{Nodes: 2, DW: []string{"#DW ..."}, Run: time.Second})
//	in.Run(func() bool { return in.State(id) == embed.StateInactive }, time.Hour)
//
// # What there is
//
// Jobs: [Instance.Submit], SubmitJSON, Cancel, Raise, SetUrgency,
// UpdateDuration, Finish (ends the tasks), PostEvent, StartQueue, StopQueue;
// State, Job, Active, Idle, Eventlog, TasksOn. Options.OnTasks is called at the
// moment when tasks start and end, Options.OnEvent with each event,
// Options.OnCallback before each callback of a plugin.
//
// Plugins: LoadPlugin, RemovePlugin, Plugins, Configured, ConfigReload. [DWS]
// plays the dws plugin and its service; DWS.Remove and DWS.Load take the plugin
// away and back.
//
// Modules: [Instance.LoadModule], [Module.Unload], [Module.Kill], Pause and
// Resume (SIGSTOP and SIGCONT), Modules.
//
// Messages: [Instance.RPC] and [Client] for tests, [Instance.Service] and
// ServiceAt for services of a test's own, Publish; Stats and ResetStats count
// what each link carried.
//
// Faults: LoseRank, ReturnRank, StopJobManager, StartJobManager,
// RestartJobManager, RestartBroker, KVSFault, KVSPut, KVSDelete,
// RemoveService, UnloadAllocator, LoadAllocator, ReloadResources (another
// inventory), ReloadResourceModule (resource.exclude is read anew).
// Options.LostAfter delays the moment when a crash is noticed,
// Options.NoReattach has tasks die with the exec service. What was not committed
// to the KVS when a broker is killed, at most the last 10 ms, is lost.
//
// Processes: [Instance.Exec] sets what a process of rexec does: a [Backend]
// of virtual ones, or [RealProcesses] (with Options.RealTime).
//
// Schedulers: the instance's own allocator holds the service "sched": a test
// that loads another sets Options.NoScheduler or calls UnloadAllocator first.
//
// Afterwards: Log, Panics, Drained, Drains, Leaks.
//
// # Memory
//
// C code sees cells of real C memory (embed.h). A use after destroy is a
// panic with the kind of the object. [Instance.Leaks] lists futures,
// messages, watchers and handlers that modules left when they were unloaded,
// and that anyone left at Close.
//
// For long runs of many histories GOGC=400 saves a third of the time.
//
// # What is not there
//
// KVS namespaces, directories and watches; access control but for the roles of
// requests; limits, queues that are disabled or virtual, dependencies other than
// dws's; of job-list all but a job's ranks; the journal; guest eventlogs; R_lite with anything but cores and gpus.
package embed
