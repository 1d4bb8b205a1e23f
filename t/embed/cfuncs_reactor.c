// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_reactor.c - flux_reactor_run(3) and the watchers; see watcher.go
 */
#include "embed.h"
#include "_cgo_export.h"

int flux_reactor_run (flux_reactor_t *r, int flags)
{
    (void)flags;
    return embedGoReactorRun (r);
}

void flux_reactor_stop (flux_reactor_t *r)
{
    embedGoReactorStop (r, 0);
}

void flux_reactor_stop_error (flux_reactor_t *r)
{
    embedGoReactorStop (r, 1);
}

double flux_reactor_now (flux_reactor_t *r)
{
    return embedGoReactorNow (r);
}

void flux_reactor_now_update (flux_reactor_t *r)
{
    (void)r; // the virtual clock is never behind
}

void flux_watcher_start (flux_watcher_t *w)
{
    embedGoWatcherStart (w);
}

void flux_watcher_stop (flux_watcher_t *w)
{
    embedGoWatcherStop (w);
}

void flux_watcher_unref (flux_watcher_t *w)
{
    (void)w; // only flux_reactor_run() looks at it, and a module's is stopped
}

void flux_watcher_destroy (flux_watcher_t *w)
{
    int saved_errno = errno;
    embedGoWatcherDestroy (w);
    errno = saved_errno;
}

flux_watcher_t *flux_fd_watcher_create (flux_reactor_t *r,
                                        int fd,
                                        int events,
                                        flux_watcher_f cb,
                                        void *arg)
{
    int err = 0;
    void *w = embedGoFDCreate (r, fd, events, (uintptr_t)cb, (uintptr_t)arg, &err);
    return embed_ptr (w, err);
}

flux_watcher_t *flux_timer_watcher_create (flux_reactor_t *r,
                                           double after,
                                           double repeat,
                                           flux_watcher_f cb,
                                           void *arg)
{
    int err = 0;
    void *w = embedGoTimerCreate (r, after, repeat, (uintptr_t)cb, (uintptr_t)arg, &err);
    return embed_ptr (w, err);
}

void flux_timer_watcher_reset (flux_watcher_t *w, double after, double repeat)
{
    embedGoTimerReset (w, after, repeat);
}
