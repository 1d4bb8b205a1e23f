// SPDX-License-Identifier: LGPL-3.0-or-later
/* dws.c - a jobtap plugin that does to a rabbit job what dws does
 *
 * For the tests where the real one is not installed.  It has no service to
 * wait for: dws_environment comes 0.2 s after the run state, the end of
 * dws-epilog 0.2 s after its start, or the seconds that the job's attributes
 * system.stub.setup (below 0: never) and system.stub.unmount give; it ends with
 * the status that system.stub.status gives.
 */
#include <stdlib.h>
#include <stdint.h>
#include <flux/core.h>
#include <flux/jobtap.h>

struct job {
    flux_plugin_t *p;
    flux_jobid_t id;
    double setup;
    double unmount;
    int status;
    int held;
    int epilog;
    flux_watcher_t *timer;
};

static void job_destroy (void *arg)
{
    struct job *job = arg;
    flux_watcher_destroy (job->timer);
    free (job);
}

static void arm (struct job *job, double after, flux_watcher_f cb)
{
    flux_reactor_t *r = flux_get_reactor (flux_jobtap_get_flux (job->p));

    flux_watcher_destroy (job->timer);
    if ((job->timer = flux_timer_watcher_create (r, after, 0., cb, job)))
        flux_watcher_start (job->timer);
}

static void mounted_cb (flux_reactor_t *r, flux_watcher_t *w, int re, void *arg)
{
    struct job *job = arg;
    if (!job->held)
        return;
    job->held = 0;
    flux_jobtap_event_post_pack (job->p,
                                 job->id,
                                 "dws_environment",
                                 "{s:{s:s}}",
                                 "variables",
                                 "DW_JOB_project1", "/mnt/nnf");
    flux_jobtap_prolog_finish (job->p, job->id, "dws-setup", 0);
}

static void unmounted_cb (flux_reactor_t *r,
                          flux_watcher_t *w,
                          int re,
                          void *arg)
{
    struct job *job = arg;
    flux_jobtap_epilog_finish (job->p, job->id, "dws-epilog", job->status);
}

/* The job of a callback, if it is a rabbit job.
 */
static struct job *job_create (flux_plugin_t *p,
                               flux_plugin_arg_t *args,
                               int *state)
{
    struct job *job;
    void *dw = NULL;
    int64_t id;

    if (!(job = calloc (1, sizeof (*job))))
        return NULL;
    job->setup = 0.2;
    job->unmount = 0.2;
    if (flux_plugin_arg_unpack (args,
                                FLUX_PLUGIN_ARG_IN,
                                "{s:I s:i s:{s:{s:{s?o s?{s?F s?F s?i}}}}}",
                                "id", &id,
                                "state", state,
                                "jobspec",
                                "attributes",
                                "system",
                                "dw", &dw,
                                "stub",
                                "setup", &job->setup,
                                "unmount", &job->unmount,
                                "status", &job->status) < 0
        || !dw) {
        free (job);
        return NULL;
    }
    job->p = p;
    job->id = id;
    flux_jobtap_job_aux_set (p, id, "stub", job, job_destroy);
    flux_jobtap_job_subscribe (p, id);
    return job;
}

static void setup (struct job *job)
{
    job->held = 1;
    if (job->setup >= 0)
        arm (job, job->setup, mounted_cb);
}

static int run_cb (flux_plugin_t *p,
                   const char *topic,
                   flux_plugin_arg_t *args,
                   void *arg)
{
    struct job *job;
    int state;

    if ((job = job_create (p, args, &state))) {
        flux_jobtap_prolog_start (p, "dws-setup");
        setup (job);
    }
    return 0;
}

/* After a reload of the job manager, a job in its prolog goes on.
 */
static int new_cb (flux_plugin_t *p,
                   const char *topic,
                   flux_plugin_arg_t *args,
                   void *arg)
{
    struct job *job;
    int state = 0;

    if (flux_plugin_arg_unpack (args,
                                FLUX_PLUGIN_ARG_IN,
                                "{s:i}",
                                "state", &state) == 0
        && state == FLUX_JOB_STATE_RUN
        && (job = job_create (p, args, &state)))
        setup (job);
    return 0;
}

static int epilog (flux_plugin_t *p, struct job *job)
{
    if (!job->epilog) {
        job->epilog = 1;
        flux_jobtap_epilog_start (p, "dws-epilog");
        arm (job, job->unmount, unmounted_cb);
    }
    return 0;
}

static int finish_cb (flux_plugin_t *p,
                      const char *topic,
                      flux_plugin_arg_t *args,
                      void *arg)
{
    struct job *job;
    if ((job = flux_jobtap_job_aux_get (p, FLUX_JOBTAP_CURRENT_JOB, "stub")))
        return epilog (p, job);
    return 0;
}

static int cleanup_cb (flux_plugin_t *p,
                       const char *topic,
                       flux_plugin_arg_t *args,
                       void *arg)
{
    struct job *job;
    if (!(job = flux_jobtap_job_aux_get (p, FLUX_JOBTAP_CURRENT_JOB, "stub")))
        return 0;
    if (job->held) {
        job->held = 0;
        flux_jobtap_prolog_finish (p, job->id, "dws-setup", 1);
    }
    if (flux_jobtap_job_event_posted (p, FLUX_JOBTAP_CURRENT_JOB, "start") == 1)
        return 0;
    return epilog (p, job);
}

static const struct flux_plugin_handler tab[] = {
    { "job.new", new_cb, NULL },
    { "job.state.run", run_cb, NULL },
    { "job.state.cleanup", cleanup_cb, NULL },
    { "job.event.finish", finish_cb, NULL },
    { 0 },
};

int flux_plugin_init (flux_plugin_t *p)
{
    return flux_plugin_register (p, "stub-dws", tab);
}
