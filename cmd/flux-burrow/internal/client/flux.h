/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* flux.h - the few functions of libflux-core that the command line calls
 *
 * They are looked up when the program runs: it is built where there is no
 * Flux, and 'timeline --eventlog', 'check FILE' and 'jgf FILE' work there.
 */
#ifndef BURROW_CLIENT_FLUX_H
#define BURROW_CLIENT_FLUX_H

#include <stdint.h>

/* Load libflux-core from path, a file or a name that the dynamic linker
 * finds.  Returns 0, or -1 with the reason in *error, to be freed.
 */
int burrow_load (const char *path, char **error);

/* Connect to the broker at FLUX_URI, or to the system instance's where that
 * is not set.  Returns the handle, or NULL with errno in *errnum.
 */
void *burrow_open (int *errnum);
void burrow_close (void *h);

/* The number of ranks: 0, or errno. */
int burrow_size (void *h, uint32_t *size);

/* Send a request and wait for its answer, at most timeout seconds; below 0
 * there is no limit.  Returns 0 with the payload in *answer, or errno with a
 * text in *error; both are to be freed.
 */
int burrow_rpc (void *h,
                const char *topic,
                const char *payload,
                uint32_t rank,
                double timeout,
                char **answer,
                char **error);

/* The same for a value of the KVS. */
int burrow_lookup (void *h,
                   const char *key,
                   double timeout,
                   char **value,
                   char **error);

#endif /* !BURROW_CLIENT_FLUX_H */
