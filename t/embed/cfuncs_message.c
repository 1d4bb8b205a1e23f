// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_message.c - messages and their handlers; see message.go, handle.go
 */
#include "embed.h"
#include "_cgo_export.h"

flux_msg_handler_t *flux_msg_handler_create (flux_t *h,
                                             const struct flux_match match,
                                             flux_msg_handler_f cb,
                                             void *arg)
{
    int err = 0;
    void *mh = embedGoHandlerCreate (h,
                                     match.typemask,
                                     match.matchtag,
                                     (char *)match.topic_glob,
                                     (uintptr_t)cb,
                                     (uintptr_t)arg,
                                     &err);
    return embed_ptr (mh, err);
}

void flux_msg_handler_destroy (flux_msg_handler_t *mh)
{
    int saved_errno = errno;
    embedGoHandlerDestroy (mh);
    errno = saved_errno;
}

void flux_msg_handler_start (flux_msg_handler_t *mh)
{
    embedGoHandlerStart (mh);
}

void flux_msg_handler_allow_rolemask (flux_msg_handler_t *mh, uint32_t rolemask)
{
    embedGoHandlerAllow (mh, rolemask);
}

const flux_msg_t *flux_msg_incref (const flux_msg_t *msg)
{
    if (msg)
        embedGoMsgIncref ((void *)msg);
    return msg;
}

void flux_msg_decref (const flux_msg_t *msg)
{
    int saved_errno = errno;
    embedGoMsgDecref ((void *)msg);
    errno = saved_errno;
}

int flux_msg_get_topic (const flux_msg_t *msg, const char **topic)
{
    return embed_rc (embedGoMsgTopic ((void *)msg, (char **)topic));
}

int flux_msg_get_cred (const flux_msg_t *msg, struct flux_msg_cred *cred)
{
    return embed_rc (embedGoMsgCred ((void *)msg, &cred->userid, &cred->rolemask));
}

bool flux_msg_is_streaming (const flux_msg_t *msg)
{
    return (embedGoMsgFlags ((void *)msg) & 1) != 0;
}

bool flux_msg_is_noresponse (const flux_msg_t *msg)
{
    return (embedGoMsgFlags ((void *)msg) & 2) != 0;
}

bool flux_disconnect_match (const flux_msg_t *msg1, const flux_msg_t *msg2)
{
    return embedGoMsgMatch ((void *)msg1, (void *)msg2, 0) != 0;
}

bool flux_cancel_match (const flux_msg_t *msg1, const flux_msg_t *msg2)
{
    return embedGoMsgMatch ((void *)msg1, (void *)msg2, 1) != 0;
}

int flux_request_decode (const flux_msg_t *msg, const char **topic, const char **s)
{
    return embed_rc (embedGoMsgDecode ((void *)msg,
                                       FLUX_MSGTYPE_REQUEST,
                                       (char **)topic,
                                       (char **)s));
}

int flux_event_decode (const flux_msg_t *msg, const char **topic, const char **s)
{
    return embed_rc (embedGoMsgDecode ((void *)msg,
                                       FLUX_MSGTYPE_EVENT,
                                       (char **)topic,
                                       (char **)s));
}

int flux_respond (flux_t *h, const flux_msg_t *request, const char *s)
{
    return embed_rc (embedGoRespond (h, (void *)request, (char *)s));
}

int flux_respond_error (flux_t *h,
                        const flux_msg_t *request,
                        int errnum,
                        const char *errstr)
{
    return embed_rc (embedGoRespondError (h, (void *)request, errnum, (char *)errstr));
}

int flux_event_subscribe (flux_t *h, const char *topic)
{
    return embed_rc (embedGoSubscribe (h, (char *)topic, 1));
}

int flux_event_unsubscribe (flux_t *h, const char *topic)
{
    return embed_rc (embedGoSubscribe (h, (char *)topic, 0));
}
