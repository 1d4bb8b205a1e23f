// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_future.c - futures, RPC and the KVS; see cfuncs_future.go, kvs.go
 */
#include <stdio.h>

#include "embed.h"
#include "_cgo_export.h"

int flux_future_then (flux_future_t *f,
                      double timeout,
                      flux_continuation_f cb,
                      void *arg)
{
    return embed_rc (embedGoFutureThen (f, timeout, (uintptr_t)cb, (uintptr_t)arg));
}

int flux_future_wait_for (flux_future_t *f, double timeout)
{
    return embed_rc (embedGoFutureWait (f, timeout));
}

void flux_future_reset (flux_future_t *f)
{
    embedGoFutureReset (f);
}

void flux_future_destroy (flux_future_t *f)
{
    int saved_errno = errno;
    embedGoFutureDestroy (f);
    errno = saved_errno;
}

int flux_future_get (flux_future_t *f, const void **result)
{
    char *value = NULL;
    int rc = embed_rc (embedGoFutureGet (f, &value));
    if (rc == 0 && result)
        *result = value;
    return rc;
}

bool flux_future_has_error (flux_future_t *f)
{
    return embedGoFutureHasError (f) != 0;
}

const char *flux_future_error_string (flux_future_t *f)
{
    return embedGoFutureError (f);
}

flux_future_t *flux_rpc (flux_t *h,
                         const char *topic,
                         const char *s,
                         uint32_t nodeid,
                         int flags)
{
    int err = 0;
    void *f = embedGoRPC (h, (char *)topic, (char *)s, nodeid, flags, &err);
    return embed_ptr (f, err);
}

int flux_rpc_get (flux_future_t *f, const char **s)
{
    return embed_rc (embedGoFutureGet (f, (char **)s));
}

uint32_t flux_rpc_get_matchtag (flux_future_t *f)
{
    uint32_t tag = 0, nodeid = 0;
    embedGoRPCInfo (f, &tag, &nodeid);
    return tag;
}

uint32_t flux_rpc_get_nodeid (flux_future_t *f)
{
    uint32_t tag = 0, nodeid = FLUX_NODEID_ANY;
    embedGoRPCInfo (f, &tag, &nodeid);
    return nodeid;
}

flux_future_t *flux_kvs_lookup (flux_t *h, const char *ns, int flags, const char *key)
{
    int err = 0;
    void *f = embedGoKVSLookup (h, (char *)ns, flags, (char *)key, &err);
    return embed_ptr (f, err);
}

int flux_kvs_lookup_get (flux_future_t *f, const char **value)
{
    return embed_rc (embedGoFutureGet (f, (char **)value));
}

flux_kvs_txn_t *flux_kvs_txn_create (void)
{
    return embedGoTxnCreate ();
}

void flux_kvs_txn_destroy (flux_kvs_txn_t *txn)
{
    int saved_errno = errno;
    embedGoTxnDestroy (txn);
    errno = saved_errno;
}

int flux_kvs_txn_put (flux_kvs_txn_t *txn,
                      int flags,
                      const char *key,
                      const char *value)
{
    return embed_rc (embedGoTxnPut (txn, flags, (char *)key, (char *)value, 0));
}

int flux_kvs_txn_unlink (flux_kvs_txn_t *txn, int flags, const char *key)
{
    return embed_rc (embedGoTxnPut (txn, flags, (char *)key, NULL, 1));
}

flux_future_t *flux_kvs_commit (flux_t *h,
                                const char *ns,
                                int flags,
                                flux_kvs_txn_t *txn)
{
    int err = 0;
    void *f = embedGoKVSCommit (h, (char *)ns, flags, txn, &err);
    return embed_ptr (f, err);
}

int flux_job_kvs_key (char *buf, int bufsz, flux_jobid_t id, const char *key)
{
    int n;
    if (!buf || bufsz <= 0) {
        errno = EINVAL;
        return -1;
    }
    n = snprintf (buf,
                  bufsz,
                  "job.%04x.%04x.%04x.%04x%s%s",
                  (unsigned)(id >> 48) & 0xffff,
                  (unsigned)(id >> 32) & 0xffff,
                  (unsigned)(id >> 16) & 0xffff,
                  (unsigned)id & 0xffff,
                  key ? "." : "",
                  key ? key : "");
    if (n >= bufsz) {
        errno = EOVERFLOW;
        return -1;
    }
    return n;
}
