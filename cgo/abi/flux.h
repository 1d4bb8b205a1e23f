/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * flux.h - the part of flux-core's C interface that burrow calls
 *
 * Used where flux-core's own headers are not installed.  Only types that
 * cross the interface by value are laid out here (struct flux_match,
 * struct flux_msg_cred); all others are opaque.  Where both are present,
 * t/lib/agree.c is compiled with both, so a difference is a build error.
 *
 * Interfaces: flux-core man page sections 3 and 7, RFC 3 (messages),
 * RFC 6 (services), RFC 12 (security), RFC 21 (job states).
 */
#ifndef BURROW_ABI_FLUX_H
#define BURROW_ABI_FLUX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef BURROW_ABI_AGREE
#define CONSTANT(name, value) _Static_assert (name == value, #name)
#else
#define CONSTANT(name, value) enum { name = value }

typedef void (*flux_free_f) (void *arg);

typedef struct flux_handle flux_t;
typedef struct flux_reactor flux_reactor_t;
typedef struct flux_watcher flux_watcher_t;
typedef struct flux_msg flux_msg_t;
typedef struct flux_msg_handler flux_msg_handler_t;
typedef struct flux_future flux_future_t;
typedef struct flux_kvs_txn flux_kvs_txn_t;
typedef struct flux_plugin flux_plugin_t;
typedef struct flux_plugin_arg flux_plugin_arg_t;
typedef struct flux_conf flux_conf_t;
typedef struct flux_error flux_error_t;
typedef uint64_t flux_jobid_t;

struct flux_match {
    int typemask;
    uint32_t matchtag;
    const char *topic_glob;
};
struct flux_msg_cred {
    uint32_t userid;
    uint32_t rolemask;
};
typedef void (*flux_watcher_f) (flux_reactor_t *r,
                                flux_watcher_t *w,
                                int revents,
                                void *arg);
typedef void (*flux_msg_handler_f) (flux_t *h,
                                    flux_msg_handler_t *mh,
                                    const flux_msg_t *msg,
                                    void *arg);
typedef void (*flux_continuation_f) (flux_future_t *f, void *arg);
typedef int (*flux_plugin_f) (flux_plugin_t *p,
                              const char *topic,
                              flux_plugin_arg_t *args,
                              void *data);

#define FLUX_JOBID_ANY 0xFFFFFFFFFFFFFFFF
#define FLUX_JOBTAP_CURRENT_JOB FLUX_JOBID_ANY
#endif /* !BURROW_ABI_AGREE */

_Static_assert (FLUX_JOBTAP_CURRENT_JOB == 0xFFFFFFFFFFFFFFFF,
                "FLUX_JOBTAP_CURRENT_JOB");
_Static_assert (sizeof (flux_jobid_t) == 8, "flux_jobid_t");
_Static_assert (offsetof (struct flux_match, typemask) == 0
                    && offsetof (struct flux_match, matchtag) == 4
                    && offsetof (struct flux_match, topic_glob) == 8
                    && sizeof (struct flux_match) == 8 + sizeof (void *),
                "struct flux_match");
_Static_assert (offsetof (struct flux_msg_cred, userid) == 0
                    && offsetof (struct flux_msg_cred, rolemask) == 4
                    && sizeof (struct flux_msg_cred) == 8,
                "struct flux_msg_cred");

/* handle, attributes, log */
flux_reactor_t *flux_get_reactor (flux_t *h);
void *flux_aux_get (flux_t *h, const char *name);
int flux_aux_set (flux_t *h, const char *name, void *aux, flux_free_f destroy);
const char *flux_attr_get (flux_t *h, const char *name);
const flux_conf_t *flux_get_conf (flux_t *h);
int flux_conf_unpack (const flux_conf_t *conf,
                      flux_error_t *error,
                      const char *fmt,
                      ...);
int flux_get_rank (flux_t *h, uint32_t *rank);
int flux_get_size (flux_t *h, uint32_t *size);
int flux_log (flux_t *h, int level, const char *fmt, ...);

/* reactor and watchers */
CONSTANT (FLUX_POLLIN, 1);
CONSTANT (FLUX_POLLOUT, 2);
CONSTANT (FLUX_POLLERR, 4);
int flux_reactor_run (flux_reactor_t *r, int flags);
void flux_reactor_stop (flux_reactor_t *r);
void flux_reactor_stop_error (flux_reactor_t *r);
double flux_reactor_now (flux_reactor_t *r);
void flux_watcher_start (flux_watcher_t *w);
void flux_watcher_stop (flux_watcher_t *w);
void flux_watcher_unref (flux_watcher_t *w);
void flux_watcher_destroy (flux_watcher_t *w);
flux_watcher_t *flux_fd_watcher_create (flux_reactor_t *r,
                                        int fd,
                                        int events,
                                        flux_watcher_f cb,
                                        void *arg);
flux_watcher_t *flux_timer_watcher_create (flux_reactor_t *r,
                                           double after,
                                           double repeat,
                                           flux_watcher_f cb,
                                           void *arg);
void flux_timer_watcher_reset (flux_watcher_t *w, double after, double repeat);

/* messages */
CONSTANT (FLUX_MSGTYPE_REQUEST, 0x01);
CONSTANT (FLUX_MSGTYPE_RESPONSE, 0x02);
CONSTANT (FLUX_MSGTYPE_EVENT, 0x04);
CONSTANT (FLUX_ROLE_OWNER, 1);
CONSTANT (FLUX_ROLE_USER, 2);
CONSTANT (FLUX_MATCHTAG_NONE, 0);
CONSTANT (FLUX_NODEID_ANY, 0xFFFFFFFF);
CONSTANT (FLUX_NODEID_UPSTREAM, 0xFFFFFFFE);

flux_msg_handler_t *flux_msg_handler_create (flux_t *h,
                                             const struct flux_match match,
                                             flux_msg_handler_f cb,
                                             void *arg);
void flux_msg_handler_destroy (flux_msg_handler_t *mh);
void flux_msg_handler_start (flux_msg_handler_t *mh);
void flux_msg_handler_allow_rolemask (flux_msg_handler_t *mh,
                                      uint32_t rolemask);
const flux_msg_t *flux_msg_incref (const flux_msg_t *msg);
void flux_msg_decref (const flux_msg_t *msg);
int flux_msg_get_topic (const flux_msg_t *msg, const char **topic);
int flux_msg_get_cred (const flux_msg_t *msg, struct flux_msg_cred *cred);
bool flux_msg_is_streaming (const flux_msg_t *msg);
bool flux_msg_is_noresponse (const flux_msg_t *msg);
bool flux_disconnect_match (const flux_msg_t *msg1, const flux_msg_t *msg2);
bool flux_cancel_match (const flux_msg_t *msg1, const flux_msg_t *msg2);
int flux_request_decode (const flux_msg_t *msg,
                         const char **topic,
                         const char **s);
int flux_event_decode (const flux_msg_t *msg,
                       const char **topic,
                       const char **s);
int flux_respond (flux_t *h, const flux_msg_t *request, const char *s);
int flux_respond_error (flux_t *h,
                        const flux_msg_t *request,
                        int errnum,
                        const char *errstr);
int flux_event_subscribe (flux_t *h, const char *topic);
int flux_event_unsubscribe (flux_t *h, const char *topic);
flux_future_t *flux_service_register (flux_t *h, const char *name);
flux_future_t *flux_service_unregister (flux_t *h, const char *name);

/* futures and RPC */
CONSTANT (FLUX_RPC_NORESPONSE, 1);
CONSTANT (FLUX_RPC_STREAMING, 2);
int flux_future_then (flux_future_t *f,
                      double timeout,
                      flux_continuation_f cb,
                      void *arg);
int flux_future_wait_for (flux_future_t *f, double timeout);
void flux_future_reset (flux_future_t *f);
void flux_future_destroy (flux_future_t *f);
int flux_future_get (flux_future_t *f, const void **result);
bool flux_future_has_error (flux_future_t *f);
const char *flux_future_error_string (flux_future_t *f);
flux_future_t *flux_rpc (flux_t *h,
                         const char *topic,
                         const char *s,
                         uint32_t nodeid,
                         int flags);
int flux_rpc_get (flux_future_t *f, const char **s);
uint32_t flux_rpc_get_matchtag (flux_future_t *f);

/* KVS */
flux_future_t *flux_kvs_lookup (flux_t *h,
                                const char *ns,
                                int flags,
                                const char *key);
int flux_kvs_lookup_get (flux_future_t *f, const char **value);
flux_kvs_txn_t *flux_kvs_txn_create (void);
void flux_kvs_txn_destroy (flux_kvs_txn_t *txn);
int flux_kvs_txn_put (flux_kvs_txn_t *txn,
                      int flags,
                      const char *key,
                      const char *value);
int flux_kvs_txn_unlink (flux_kvs_txn_t *txn, int flags, const char *key);
flux_future_t *flux_kvs_commit (flux_t *h,
                                const char *ns,
                                int flags,
                                flux_kvs_txn_t *txn);
int flux_job_kvs_key (char *buf, int bufsz, flux_jobid_t id, const char *key);

/* modules */
int flux_module_set_running (flux_t *h);

/* plugins */
CONSTANT (FLUX_PLUGIN_ARG_IN, 0);
CONSTANT (FLUX_PLUGIN_ARG_OUT, 1);
CONSTANT (FLUX_PLUGIN_ARG_REPLACE, 2);
int flux_plugin_set_name (flux_plugin_t *p, const char *name);
int flux_plugin_add_handler (flux_plugin_t *p,
                             const char *topic,
                             flux_plugin_f cb,
                             void *arg);
int flux_plugin_aux_set (flux_plugin_t *p,
                         const char *key,
                         void *val,
                         flux_free_f free_fn);
const char *flux_plugin_get_conf (flux_plugin_t *p);
int flux_plugin_arg_get (flux_plugin_arg_t *args, int flags, char **json_str);
int flux_plugin_arg_set (flux_plugin_arg_t *args,
                         int flags,
                         const char *json_str);
void flux_plugin_arg_destroy (flux_plugin_arg_t *args);

/* jobtap: defined by the job-manager module only */
flux_t *flux_jobtap_get_flux (flux_plugin_t *p);
int flux_jobtap_service_register_ex (flux_plugin_t *p,
                                     const char *method,
                                     uint32_t rolemask,
                                     flux_msg_handler_f cb,
                                     void *arg);
int flux_jobtap_job_subscribe (flux_plugin_t *p, flux_jobid_t id);
void flux_jobtap_job_unsubscribe (flux_plugin_t *p, flux_jobid_t id);
flux_plugin_arg_t *flux_jobtap_job_lookup (flux_plugin_t *p, flux_jobid_t id);
int flux_jobtap_raise_exception (flux_plugin_t *p,
                                 flux_jobid_t id,
                                 const char *type,
                                 int severity,
                                 const char *fmt,
                                 ...);
int flux_jobtap_event_post_pack (flux_plugin_t *p,
                                 flux_jobid_t id,
                                 const char *name,
                                 const char *fmt,
                                 ...);
int flux_jobtap_prolog_start (flux_plugin_t *p, const char *description);
int flux_jobtap_prolog_finish (flux_plugin_t *p,
                               flux_jobid_t id,
                               const char *description,
                               int status);
int flux_jobtap_epilog_start (flux_plugin_t *p, const char *description);
int flux_jobtap_epilog_finish (flux_plugin_t *p,
                               flux_jobid_t id,
                               const char *description,
                               int status);

#endif /* !BURROW_ABI_FLUX_H */
