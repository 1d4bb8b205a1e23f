/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * burrow_flux.h - flux-core's C interface, from its own headers or abi/
 *
 * Also declares the C side of this package: wrappers for functions that cgo
 * can't call (variadic ones, function pointers), in wrap.c.  A callback's
 * argument is a uintptr_t that runtime/cgo resolves: no Go pointer reaches C.
 */
#ifndef BURROW_FLUX_H
#define BURROW_FLUX_H

#if HAVE_FLUX_CORE
#include <flux/core.h>
#include <flux/jobtap.h>
#else
#include "abi/flux.h"
#endif

/* Only the job-manager module defines these.  Weak, so that the same object
 * also loads where there is no job manager (flux module load --exec).
 */
#pragma weak flux_jobtap_get_flux
#pragma weak flux_jobtap_service_register_ex
#pragma weak flux_jobtap_job_subscribe
#pragma weak flux_jobtap_job_unsubscribe
#pragma weak flux_jobtap_job_lookup
#pragma weak flux_jobtap_raise_exception
#pragma weak flux_jobtap_event_post_pack
#pragma weak flux_jobtap_prolog_start
#pragma weak flux_jobtap_prolog_finish
#pragma weak flux_jobtap_epilog_start
#pragma weak flux_jobtap_epilog_finish

char *burrow_conf (flux_t *h);
void burrow_log (flux_t *h, int level, const char *text);

flux_watcher_t *burrow_timer_create (flux_reactor_t *r,
                                     double after,
                                     uintptr_t arg);
flux_watcher_t *burrow_fd_create (flux_reactor_t *r,
                                  int fd,
                                  int events,
                                  uintptr_t arg);
flux_msg_handler_t *burrow_msg_handler_create (flux_t *h,
                                               int typemask,
                                               const char *topic,
                                               uintptr_t arg);
int burrow_future_then (flux_future_t *f, double timeout, uintptr_t arg);

int burrow_plugin_add_handler (flux_plugin_t *p,
                               const char *topic,
                               uintptr_t arg);
int burrow_plugin_on_destroy (flux_plugin_t *p,
                              const char *key,
                              uintptr_t arg);
int burrow_handle_on_destroy (flux_t *h, const char *key, uintptr_t arg);
int burrow_jobtap_service_register (flux_plugin_t *p,
                                    const char *method,
                                    uint32_t rolemask,
                                    uintptr_t arg);
int burrow_jobtap_raise (flux_plugin_t *p,
                         flux_jobid_t id,
                         const char *type,
                         int severity,
                         const char *note);
int burrow_jobtap_post_perilog (flux_plugin_t *p,
                                flux_jobid_t id,
                                const char *name,
                                const char *description);

#endif /* !BURROW_FLUX_H */
