/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* flux.c - libflux-core by dlopen(3); see flux.h
 *
 * Errno belongs to the thread, and a Go caller may be on another one by the
 * time it looks: each function here returns it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flux.h"

/* Handles and futures are opaque here. */
static struct {
    void *(*open) (const char *uri, int flags);
    void (*close) (void *h);
    int (*get_size) (void *h, uint32_t *size);
    void *(*rpc) (void *h,
                  const char *topic,
                  const char *payload,
                  uint32_t rank,
                  int flags);
    int (*rpc_get) (void *f, const char **payload);
    void *(*kvs_lookup) (void *h, const char *ns, int flags, const char *key);
    int (*kvs_lookup_get) (void *f, const char **value);
    int (*future_wait_for) (void *f, double timeout);
    const char *(*future_error_string) (void *f);
    void (*future_destroy) (void *f);
} flux;

static const struct {
    const char *name;
    void **to;
} symbols[] = {
    { "flux_open", (void **)&flux.open },
    { "flux_close", (void **)&flux.close },
    { "flux_get_size", (void **)&flux.get_size },
    { "flux_rpc", (void **)&flux.rpc },
    { "flux_rpc_get", (void **)&flux.rpc_get },
    { "flux_kvs_lookup", (void **)&flux.kvs_lookup },
    { "flux_kvs_lookup_get", (void **)&flux.kvs_lookup_get },
    { "flux_future_wait_for", (void **)&flux.future_wait_for },
    { "flux_future_error_string", (void **)&flux.future_error_string },
    { "flux_future_destroy", (void **)&flux.future_destroy },
};

int burrow_load (const char *path, char **error)
{
    void *lib = dlopen (path, RTLD_NOW | RTLD_LOCAL);

    if (!lib) {
        *error = strdup (dlerror ());
        return -1;
    }
    for (size_t i = 0; i < sizeof (symbols) / sizeof (symbols[0]); i++) {
        if (!(*symbols[i].to = dlsym (lib, symbols[i].name))) {
            *error = strdup (dlerror ());
            dlclose (lib);
            return -1;
        }
    }
    return 0;
}

void *burrow_open (int *errnum)
{
    void *h = flux.open (NULL, 0);
    *errnum = errno;
    return h;
}

void burrow_close (void *h)
{
    flux.close (h);
}

int burrow_size (void *h, uint32_t *size)
{
    return flux.get_size (h, size) < 0 ? errno : 0;
}

/* What is left of a request, whose future is taken over: get fetches the
 * answer once it is there.
 */
static int finish (void *f,
                   double timeout,
                   int (*get) (void *f, const char **s),
                   char **answer,
                   char **error)
{
    const char *s = NULL;
    int rc = 0;

    if (!f)
        return errno;
    /* Whether the wait failed, or get does: a timeout is not in the future,
     * so get alone would wait on.
     */
    if (flux.future_wait_for (f, timeout) < 0)
        rc = errno;
    else if (get (f, &s) < 0) {
        rc = errno;
        s = flux.future_error_string (f);
        if (s)
            *error = strdup (s);
    }
    else if (!(*answer = strdup (s ? s : "")))
        rc = ENOMEM;
    flux.future_destroy (f);
    return rc;
}

int burrow_rpc (void *h,
                const char *topic,
                const char *payload,
                uint32_t rank,
                double timeout,
                char **answer,
                char **error)
{
    return finish (flux.rpc (h, topic, payload, rank, 0),
                   timeout,
                   flux.rpc_get,
                   answer,
                   error);
}

int burrow_lookup (void *h,
                   const char *key,
                   double timeout,
                   char **value,
                   char **error)
{
    return finish (flux.kvs_lookup (h, NULL, 0, key),
                   timeout,
                   flux.kvs_lookup_get,
                   value,
                   error);
}
