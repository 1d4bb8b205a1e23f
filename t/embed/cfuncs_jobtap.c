// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_jobtap.c - the job manager's functions; see cfuncs_jobtap.go
 */
#include <stdio.h>
#include <string.h>

#include "embed.h"
#include "_cgo_export.h"

flux_t *flux_jobtap_get_flux (flux_plugin_t *p)
{
    int err = 0;
    void *h = embedGoJobtapFlux (p, &err);
    return embed_ptr (h, err);
}

int flux_jobtap_service_register_ex (flux_plugin_t *p,
                                     const char *method,
                                     uint32_t rolemask,
                                     flux_msg_handler_f cb,
                                     void *arg)
{
    return embed_rc (embedGoJobtapService (p,
                                           (char *)method,
                                           rolemask,
                                           (uintptr_t)cb,
                                           (uintptr_t)arg));
}

int flux_jobtap_job_subscribe (flux_plugin_t *p, flux_jobid_t id)
{
    return embed_rc (embedGoJobtapSubscribe (p, id, 1));
}

void flux_jobtap_job_unsubscribe (flux_plugin_t *p, flux_jobid_t id)
{
    (void)embedGoJobtapSubscribe (p, id, 0);
}

flux_plugin_arg_t *flux_jobtap_job_lookup (flux_plugin_t *p, flux_jobid_t id)
{
    int err = 0;
    void *args = embedGoJobtapLookup (p, id, &err);
    return embed_ptr (args, err);
}

int flux_jobtap_raise_exception (flux_plugin_t *p,
                                 flux_jobid_t id,
                                 const char *type,
                                 int severity,
                                 const char *fmt,
                                 ...)
{
    char note[1024];
    va_list ap;

    if (!fmt || !type) {
        errno = EINVAL;
        return -1;
    }
    va_start (ap, fmt);
    if (vsnprintf (note, sizeof (note), fmt, ap) >= (int)sizeof (note))
        note[sizeof (note) - 2] = '+';
    va_end (ap);
    return embed_rc (embedGoJobtapRaise (p, id, (char *)type, severity, note));
}

/* Of the formats of jansson, burrow uses an object with one string. */
int flux_jobtap_event_post_pack (flux_plugin_t *p,
                                 flux_jobid_t id,
                                 const char *name,
                                 const char *fmt,
                                 ...)
{
    const char *key, *value;
    va_list ap;

    if (!name || !fmt || strcmp (fmt, "{s:s}") != 0) {
        errno = EINVAL;
        return -1;
    }
    va_start (ap, fmt);
    key = va_arg (ap, const char *);
    value = va_arg (ap, const char *);
    va_end (ap);
    return embed_rc (embedGoJobtapPost (p, id, (char *)name, (char *)key, (char *)value));
}

int flux_jobtap_prolog_start (flux_plugin_t *p, const char *description)
{
    return embed_rc (embedGoJobtapPerilog (p,
                                           FLUX_JOBTAP_CURRENT_JOB,
                                           1,
                                           1,
                                           (char *)description,
                                           0));
}

int flux_jobtap_prolog_finish (flux_plugin_t *p,
                               flux_jobid_t id,
                               const char *description,
                               int status)
{
    return embed_rc (embedGoJobtapPerilog (p, id, 1, 0, (char *)description, status));
}

int flux_jobtap_epilog_start (flux_plugin_t *p, const char *description)
{
    return embed_rc (embedGoJobtapPerilog (p,
                                           FLUX_JOBTAP_CURRENT_JOB,
                                           0,
                                           1,
                                           (char *)description,
                                           0));
}

int flux_jobtap_epilog_finish (flux_plugin_t *p,
                               flux_jobid_t id,
                               const char *description,
                               int status)
{
    return embed_rc (embedGoJobtapPerilog (p, id, 0, 0, (char *)description, status));
}
