// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_handle.c - handles, attributes, log, services; see handle.go
 */
#include <stdio.h>

#include "embed.h"
#include "_cgo_export.h"

flux_reactor_t *flux_get_reactor (flux_t *h)
{
    if (!h) {
        errno = EINVAL;
        return NULL;
    }
    return embedGoGetReactor (h);
}

void *flux_aux_get (flux_t *h, const char *name)
{
    int err = 0;
    void *val = (void *)embedGoAuxGet (h, (char *)name, &err);
    return embed_ptr (val, err);
}

int flux_aux_set (flux_t *h, const char *name, void *aux, flux_free_f destroy)
{
    return embed_rc (embedGoAuxSet (h, (char *)name, (uintptr_t)aux, (uintptr_t)destroy));
}

const char *flux_attr_get (flux_t *h, const char *name)
{
    int err = 0;
    const char *val = embedGoAttrGet (h, (char *)name, &err);
    return embed_ptr ((void *)val, err);
}

const flux_conf_t *flux_get_conf (flux_t *h)
{
    int err = 0;
    const char *text = embedGoConf (h, &err);
    return embed_ptr ((void *)text, err);
}

/* All of it, as an object: here, as in json_dumps, that is its text. */
int flux_conf_unpack (const flux_conf_t *conf,
                      flux_error_t *error,
                      const char *fmt,
                      ...)
{
    va_list ap;

    if (!conf || strcmp (fmt, "o") != 0) {
        errno = EINVAL;
        return -1;
    }
    va_start (ap, fmt);
    *va_arg (ap, const void **) = conf;
    va_end (ap);
    return 0;
}

char *json_dumps (const void *json, size_t flags)
{
    return strdup (json);
}

int flux_get_rank (flux_t *h, uint32_t *rank)
{
    uint32_t size;
    return embed_rc (embedGoGetRank (h, rank, &size));
}

int flux_get_size (flux_t *h, uint32_t *size)
{
    uint32_t rank;
    return embed_rc (embedGoGetRank (h, &rank, size));
}

int flux_log (flux_t *h, int level, const char *fmt, ...)
{
    char buf[4096];
    int saved_errno = errno;
    va_list ap;

    va_start (ap, fmt);
    (void)vsnprintf (buf, sizeof (buf), fmt, ap);
    va_end (ap);
    embedGoLog (h, level, buf);
    errno = saved_errno;
    return 0;
}

const char *flux_strerror (int errnum)
{
    return strerror (errnum);
}

flux_future_t *flux_service_register (flux_t *h, const char *name)
{
    int err = 0;
    void *f = embedGoService (h, (char *)name, 1, &err);
    return embed_ptr (f, err);
}

flux_future_t *flux_service_unregister (flux_t *h, const char *name)
{
    int err = 0;
    void *f = embedGoService (h, (char *)name, 0, &err);
    return embed_ptr (f, err);
}

int flux_module_set_running (flux_t *h)
{
    return embed_rc (embedGoSetRunning (h));
}
