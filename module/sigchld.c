// SPDX-License-Identifier: LGPL-3.0-or-later
/* sigchld.c - keep the broker's SIGCHLD where the broker looks for it
 *
 * The broker learns of its children by a signalfd(2), which sees SIGCHLD only
 * while every thread has it blocked.  The Go runtime unblocks SIGCHLD on each
 * thread that it makes (it is one of the signals it never leaves blocked), and
 * the default action then swallows the signal: jobs take seconds to be seen
 * to end, or hang.
 *
 * The cure is a handler that blocks SIGCHLD for good on the thread that it
 * found unblocked, by way of the mask that sigreturn(2) restores, and sends the
 * signal to the process again.  After at most as many hops as there are
 * unblocked threads it stays pending, where the signalfd finds it.  A thread
 * that Go makes later is cured by the first SIGCHLD it catches.
 *
 * SA_ONSTACK since Go's stacks are small, SA_RESTART since Go's system calls
 * expect it.  The handler goes in before Go's runtime starts: constructors
 * with a priority run before those without, such as Go's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

static void sigchld_cb (int signum, siginfo_t *info, void *arg)
{
    int saved_errno = errno;
    ucontext_t *uc = arg;

    sigaddset (&uc->uc_sigmask, SIGCHLD);
    (void)kill (getpid (), SIGCHLD);
    errno = saved_errno;
}

__attribute__ ((constructor (101))) static void sigchld_init (void)
{
    struct sigaction sa;

    /* A handler of the program's own takes SIGCHLD on any thread as it is.
     */
    if (sigaction (SIGCHLD, NULL, &sa) < 0
        || (!(sa.sa_flags & SA_SIGINFO) && sa.sa_handler != SIG_DFL)
        || ((sa.sa_flags & SA_SIGINFO) && sa.sa_sigaction != sigchld_cb))
        return;
    sa.sa_sigaction = sigchld_cb;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset (&sa.sa_mask);
    (void)sigaction (SIGCHLD, &sa, NULL);
}
