// SPDX-License-Identifier: LGPL-3.0-or-later
/* rest.c - let go of the object's pages while nothing is to be done
 *
 * What is mapped of the object's file counts as the broker's memory for as
 * long as the broker lives, however rarely it is used.  Pages that are only
 * read can be let go of at any time: they come back from the page cache when
 * they are touched.  What the loader has written to, by relocation, can't.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burrow_flux.h"
#include "rest.h"

static int let_go (struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t here = (uintptr_t)let_go;
    uintptr_t mask = (uintptr_t)sysconf (_SC_PAGESIZE) - 1;
    int mine = 0;
    int i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD
            && here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            mine = 1;
    }
    if (!mine)
        return 0;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && !(p->p_flags & PF_W)) {
            uintptr_t from = (info->dlpi_addr + p->p_vaddr) & ~mask;
            uintptr_t to = (info->dlpi_addr + p->p_vaddr + p->p_memsz) & ~mask;
            if (to > from)
                (void)madvise ((void *)from, to - from, MADV_DONTNEED);
        }
    }
    return 1;
}

static void rest_cb (flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    (void)dl_iterate_phdr (let_go, NULL);
}

static void destroy (void *arg)
{
    flux_watcher_destroy (arg);
}

/* By a timer, as the way out of Go would touch many pages again. */
void burrow_rest_later (flux_t *h, double seconds)
{
    const char *name = "burrow::rest";
    flux_watcher_t *w = flux_aux_get (h, name);

    if (!w) {
        w = flux_timer_watcher_create (flux_get_reactor (h), seconds, 0., rest_cb, NULL);
        if (!w)
            return;
        if (flux_aux_set (h, name, w, destroy) < 0) {
            flux_watcher_destroy (w);
            return;
        }
    }
    else {
        flux_watcher_stop (w);
        flux_timer_watcher_reset (w, seconds, 0.);
    }
    flux_watcher_start (w);
}
