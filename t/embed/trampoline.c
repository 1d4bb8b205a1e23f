// SPDX-License-Identifier: LGPL-3.0-or-later
/* trampoline.c - calls from Go to the callbacks that the code under test gave
 */
#include "embed.h"

void embed_call_watcher (uintptr_t fn, void *r, void *w, int revents, uintptr_t arg)
{
    ((flux_watcher_f)fn) (r, w, revents, (void *)arg);
}

void embed_call_message (uintptr_t fn, void *h, void *mh, void *msg, uintptr_t arg)
{
    ((flux_msg_handler_f)fn) (h, mh, msg, (void *)arg);
}

void embed_call_future (uintptr_t fn, void *f, uintptr_t arg)
{
    ((flux_continuation_f)fn) (f, (void *)arg);
}

int embed_call_plugin (uintptr_t fn, void *p, const char *topic, void *args, uintptr_t arg)
{
    return ((flux_plugin_f)fn) (p, topic, args, (void *)arg);
}

void embed_call_free (uintptr_t fn, uintptr_t arg)
{
    ((flux_free_f)fn) ((void *)arg);
}
