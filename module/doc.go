// SPDX-License-Identifier: LGPL-3.0-or-later

// Burrow.so is loaded by the Flux broker in one of three roles.
//
//	exported C symbol   file      Go body              role
//	flux_plugin_init    entry.c   burrowGoPluginInit   roles.Hooks
//	mod_main            entry.c   burrowGoModule       roles.Agent, roles.Scheduler
//
// Nothing else is exported (export.map). The role of a module follows its
// name: sched-burrow and what begins with it is the scheduler, any other name
// the agent. sigchld.c keeps the Go runtime from taking the broker's SIGCHLD.
package main
