/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * embed.h - the C side of the embedded instance
 *
 * Every object that crosses to the code under test (flux_t, flux_msg_t,
 * flux_future_t and so on) is a cell: real C memory that names an instance
 * and a slot in its table of Go objects.  Functions of libflux's names are in
 * cfuncs_*.c; each calls one Go function, named embedGo*, and turns its
 * negative errno into what libflux returns.
 *
 * What libflux carries as a void pointer without looking at it, such as a
 * callback's argument, is a uintptr_t on the Go side: callers may dress up an
 * integer as a pointer, and Go does not take that.
 */
#ifndef EMBED_H
#define EMBED_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../cgo/abi/flux.h"

struct embed_cell {
    uint32_t magic;
    uint32_t inst;
    uint32_t slot;
    uint32_t kind;
};

static inline int embed_rc (int rc)
{
    if (rc < 0) {
        errno = -rc;
        return -1;
    }
    return rc;
}

static inline void *embed_ptr (void *p, int err)
{
    if (!p)
        errno = err;
    return p;
}

void embed_call_watcher (uintptr_t fn, void *r, void *w, int revents, uintptr_t arg);
void embed_call_message (uintptr_t fn, void *h, void *mh, void *msg, uintptr_t arg);
void embed_call_future (uintptr_t fn, void *f, uintptr_t arg);
int embed_call_plugin (uintptr_t fn, void *p, const char *topic, void *args, uintptr_t arg);
void embed_call_free (uintptr_t fn, uintptr_t arg);

#endif /* !EMBED_H */
