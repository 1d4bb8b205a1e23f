// SPDX-License-Identifier: LGPL-3.0-or-later

/* reload.c - measure what a scheduler's restart takes
 *
 *   reload load NAME PATH [ARG...]  from the request to load a module to its
 *                                   first answer to stats-get, in seconds
 *   reload hello                    the stream of jobs that have resources
 *   reload memory                   that, then R of all jobs in one request
 *                                   to burrow's hooks in the job manager
 *   reload kvs                      that, then R of all jobs out of the KVS,
 *                                   64 look-ups on their way at once
 *
 * The last three are floors: what a client takes that does nothing else.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <errno.h>
#include <jansson.h>
#include <flux/core.h>

static double now (void)
{
    struct timespec t;
    clock_gettime (CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die (const char *what)
{
    fprintf (stderr, "reload: %s: %s\n", what, strerror (errno));
    exit (1);
}

static json_t *hello (flux_t *h)
{
    flux_future_t *f;
    json_t *ids = json_array ();
    json_int_t id;

    if (!(f = flux_rpc_pack (h,
                             "job-manager.sched-hello",
                             FLUX_NODEID_ANY,
                             FLUX_RPC_STREAMING,
                             "{s:b}",
                             "partial-ok", 1)))
        die ("sched-hello");
    while (flux_rpc_get_unpack (f, "{s:I}", "id", &id) == 0) {
        json_array_append_new (ids, json_integer (id));
        flux_future_reset (f);
    }
    if (errno != ENODATA)
        die ("sched-hello");
    flux_future_destroy (f);
    return ids;
}

static size_t memory (flux_t *h, json_t *ids)
{
    flux_future_t *f;
    json_t *R;
    size_t n;

    if (!(f = flux_rpc_pack (h,
                             "job-manager.burrow.running-R",
                             FLUX_NODEID_ANY,
                             0,
                             "{s:O}",
                             "ids", ids))
        || flux_rpc_get_unpack (f, "{s:o}", "R", &R) < 0)
        die ("running-R");
    n = json_object_size (R);
    flux_future_destroy (f);
    return n;
}

static size_t kvs (flux_t *h, json_t *ids)
{
    flux_future_t *flying[64] = { NULL };
    size_t size = json_array_size (ids);
    size_t n = 0;

    for (size_t i = 0; i < size + 64; i++) {
        flux_future_t **slot = &flying[i % 64];
        const char *value;
        char key[128];

        if (*slot) {
            if (flux_kvs_lookup_get (*slot, &value) == 0) {
                json_t *o = json_loads (value, 0, NULL);
                if (o)
                    n++;
                json_decref (o);
            }
            flux_future_destroy (*slot);
            *slot = NULL;
        }
        if (i < size) {
            flux_jobid_t id = json_integer_value (json_array_get (ids, i));
            if (flux_job_kvs_key (key, sizeof (key), id, "R") < 0
                || !(*slot = flux_kvs_lookup (h, NULL, 0, key)))
                die ("kvs lookup");
        }
    }
    return n;
}

static size_t load (flux_t *h, int argc, char **argv)
{
    flux_future_t *f;
    char topic[128];
    json_t *args = json_array ();

    for (int i = 2; i < argc; i++)
        json_array_append_new (args, json_string (argv[i]));
    if (!(f = flux_rpc_pack (h,
                             "module.load",
                             FLUX_NODEID_ANY,
                             0,
                             "{s:s s:s s:o s:b}",
                             "path", argv[1],
                             "name", argv[0],
                             "args", args,
                             "exec", 0))
        || flux_rpc_get (f, NULL) < 0)
        die (argv[0]);
    flux_future_destroy (f);
    snprintf (topic, sizeof (topic), "%s.stats-get", argv[0]);
    if (!(f = flux_rpc (h, topic, NULL, FLUX_NODEID_ANY, 0))
        || flux_rpc_get (f, NULL) < 0)
        die (topic);
    flux_future_destroy (f);
    return 0;
}

int main (int argc, char **argv)
{
    flux_t *h;
    double t0;
    size_t n = 0;
    json_t *ids = NULL;

    if (argc < 2 || !(h = flux_open (NULL, 0)))
        die ("flux_open");
    t0 = now ();
    if (!strcmp (argv[1], "load") && argc > 3)
        n = load (h, argc - 2, argv + 2);
    else {
        ids = hello (h);
        n = json_array_size (ids);
        if (!strcmp (argv[1], "memory"))
            n = memory (h, ids);
        else if (!strcmp (argv[1], "kvs"))
            n = kvs (h, ids);
    }
    printf ("%.4f %zu\n", now () - t0, n);
    json_decref (ids);
    flux_close (h);
    return 0;
}
