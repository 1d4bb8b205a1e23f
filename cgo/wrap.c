// SPDX-License-Identifier: LGPL-3.0-or-later
/* wrap.c - the C side of the crossing
 *
 * Down: variadic functions get a fixed signature.  Up: each callback type of
 * libflux has one C function here that calls its Go body in callback.go; the
 * void pointer that libflux carries is the uintptr_t of a runtime/cgo Handle.
 */
#include <errno.h>

#include "burrow_flux.h"
#include "_cgo_export.h"

/* Of jansson, which libflux-core is made with and has loaded.  Its result is
 * the caller's to free.
 */
char *json_dumps (const void *json, size_t flags);

char *burrow_conf (flux_t *h)
{
    const flux_conf_t *conf;
    void *o;
    char *s;

    if (!(conf = flux_get_conf (h)) || flux_conf_unpack (conf, NULL, "o", &o) < 0)
        return NULL;
    if (!(s = json_dumps (o, 0)))
        errno = ENOMEM;
    return s;
}

void burrow_log (flux_t *h, int level, const char *text)
{
    (void)flux_log (h, level, "%s", text);
}

static void watcher_cb (flux_reactor_t *r,
                        flux_watcher_t *w,
                        int revents,
                        void *arg)
{
    burrowGoWatcher ((uintptr_t)arg, revents);
}

flux_watcher_t *burrow_timer_create (flux_reactor_t *r,
                                     double after,
                                     uintptr_t arg)
{
    return flux_timer_watcher_create (r, after, 0., watcher_cb, (void *)arg);
}

flux_watcher_t *burrow_fd_create (flux_reactor_t *r,
                                  int fd,
                                  int events,
                                  uintptr_t arg)
{
    return flux_fd_watcher_create (r, fd, events, watcher_cb, (void *)arg);
}

static void msg_cb (flux_t *h,
                    flux_msg_handler_t *mh,
                    const flux_msg_t *msg,
                    void *arg)
{
    burrowGoMessage ((uintptr_t)arg, h, (flux_msg_t *)msg);
}

flux_msg_handler_t *burrow_msg_handler_create (flux_t *h,
                                               int typemask,
                                               const char *topic,
                                               uintptr_t arg)
{
    struct flux_match match = {
        .typemask = typemask,
        .matchtag = FLUX_MATCHTAG_NONE,
        .topic_glob = topic,
    };
    return flux_msg_handler_create (h, match, msg_cb, (void *)arg);
}

static void future_cb (flux_future_t *f, void *arg)
{
    burrowGoFuture ((uintptr_t)arg);
}

int burrow_future_then (flux_future_t *f, double timeout, uintptr_t arg)
{
    return flux_future_then (f, timeout, future_cb, (void *)arg);
}

static int plugin_cb (flux_plugin_t *p,
                      const char *topic,
                      flux_plugin_arg_t *args,
                      void *arg)
{
    return burrowGoPlugin ((uintptr_t)arg, (char *)topic, args);
}

int burrow_plugin_add_handler (flux_plugin_t *p,
                               const char *topic,
                               uintptr_t arg)
{
    return flux_plugin_add_handler (p, topic, plugin_cb, (void *)arg);
}

static void destroy_cb (void *arg)
{
    burrowGoDestroy ((uintptr_t)arg);
}

int burrow_plugin_on_destroy (flux_plugin_t *p,
                              const char *key,
                              uintptr_t arg)
{
    return flux_plugin_aux_set (p, key, (void *)arg, destroy_cb);
}

int burrow_handle_on_destroy (flux_t *h, const char *key, uintptr_t arg)
{
    return flux_aux_set (h, key, (void *)arg, destroy_cb);
}

int burrow_jobtap_service_register (flux_plugin_t *p,
                                    const char *method,
                                    uint32_t rolemask,
                                    uintptr_t arg)
{
    return flux_jobtap_service_register_ex (p,
                                            method,
                                            rolemask,
                                            msg_cb,
                                            (void *)arg);
}

int burrow_jobtap_raise (flux_plugin_t *p,
                         flux_jobid_t id,
                         const char *type,
                         int severity,
                         const char *note)
{
    return flux_jobtap_raise_exception (p, id, type, severity, "%s", note);
}

int burrow_jobtap_post_perilog (flux_plugin_t *p,
                                flux_jobid_t id,
                                const char *name,
                                const char *description)
{
    return flux_jobtap_event_post_pack (p,
                                        id,
                                        name,
                                        "{s:s}",
                                        "description",
                                        description);
}
