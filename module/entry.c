// SPDX-License-Identifier: LGPL-3.0-or-later
/* entry.c - the two symbols that burrow.so exports
 *
 * The crossing into Go is one visible line in each.  What C has to do itself
 * is here: set errno, which the broker reads when mod_main returns, and block
 * SIGCHLD again, which the Go runtime unblocks when a C thread first calls
 * into it (see sigchld.c).
 */
#include <errno.h>
#include <signal.h>

#include "burrow_flux.h"
#include "_cgo_export.h"

static void block_sigchld (void)
{
    sigset_t set;

    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    (void)pthread_sigmask (SIG_BLOCK, &set, NULL);
}

int mod_main (flux_t *h, int argc, char **argv)
{
    int errnum;

    burrowGoTouch ();
    block_sigchld ();
    if ((errnum = burrowGoModule (h, argc, argv)) == 0)
        return 0;
    errno = errnum;
    return -1;
}

int flux_plugin_init (flux_plugin_t *p)
{
    int errnum;

    burrowGoTouch ();
    block_sigchld ();
    if ((errnum = burrowGoPluginInit (p)) == 0)
        return 0;
    errno = errnum;
    return -1;
}
