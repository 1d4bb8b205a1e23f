// SPDX-License-Identifier: LGPL-3.0-or-later
/* children.c - a process that learns of its children as the broker does
 *
 * Usage: children OBJECT COUNT
 *
 * Blocks SIGCHLD, reads it from a signalfd(2), loads OBJECT (unless it is
 * "-"), and runs COUNT children one after the other, each of which ends at
 * once.  A child whose end is not told within a second is lost.  Prints how
 * many were, and exits 1 if any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The part of Flux that a module calls before it finds that it has no broker.
 */
void *flux_aux_get (void *h, const char *name)
{
    return NULL;
}

int flux_get_rank (void *h, uint32_t *rank)
{
    errno = ENOTCONN;
    return -1;
}

int flux_log (void *h, int level, const char *fmt, ...)
{
    return 0;
}

/* Enter Go, as the broker does when it starts the module: this thread then
 * has the signal mask of Go's making.  Without a broker mod_main fails.
 */
static void enter (void *dso)
{
    int (*mod_main) (void *h, int argc, char **argv) = dlsym (dso, "mod_main");

    if (!mod_main) {
        fprintf (stderr, "children: no mod_main: %s\n", dlerror ());
        exit (2);
    }
    errno = 0;
    if (mod_main (NULL, 0, NULL) != -1 || errno != ENOTCONN) {
        fprintf (stderr, "children: mod_main without a broker: %d\n", errno);
        exit (2);
    }
}

int main (int argc, char **argv)
{
    sigset_t set;
    int fd;
    int lost = 0;
    int count = argc == 3 ? atoi (argv[2]) : 0;

    if (count <= 0) {
        fprintf (stderr, "Usage: children OBJECT COUNT\n");
        return 2;
    }
    sigemptyset (&set);
    sigaddset (&set, SIGCHLD);
    if (sigprocmask (SIG_BLOCK, &set, NULL) < 0
        || (fd = signalfd (-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)) < 0) {
        perror ("children: signalfd");
        return 2;
    }
    if (strcmp (argv[1], "-") != 0) {
        void *dso = dlopen (argv[1], RTLD_LAZY | RTLD_GLOBAL);
        if (!dso) {
            fprintf (stderr, "children: %s\n", dlerror ());
            return 2;
        }
        enter (dso);
        /* Go starts its threads on a thread of its own.
         */
        usleep (200000);
    }
    for (int i = 0; i < count; i++) {
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        struct signalfd_siginfo si;
        pid_t pid = fork ();

        if (pid == 0)
            _exit (0);
        if (pid < 0 || poll (&pfd, 1, 1000) != 1)
            lost++;
        while (read (fd, &si, sizeof (si)) > 0)
            ;
        if (pid > 0)
            (void)waitpid (pid, NULL, 0);
        if (lost > 5)
            break;
    }
    printf ("%d of %d lost\n", lost, count);
    return lost ? 1 : 0;
}
