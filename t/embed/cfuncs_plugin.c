// SPDX-License-Identifier: LGPL-3.0-or-later
/* cfuncs_plugin.c - plugins and their arguments; see plugin.go
 */
#include "embed.h"
#include "_cgo_export.h"

int flux_plugin_set_name (flux_plugin_t *p, const char *name)
{
    return embed_rc (embedGoPluginSetName (p, (char *)name));
}

const char *flux_plugin_get_name (flux_plugin_t *p)
{
    return embedGoPluginName (p);
}

int flux_plugin_add_handler (flux_plugin_t *p,
                             const char *topic,
                             flux_plugin_f cb,
                             void *arg)
{
    return embed_rc (embedGoPluginHandler (p, (char *)topic, (uintptr_t)cb, (uintptr_t)arg));
}

int flux_plugin_aux_set (flux_plugin_t *p,
                         const char *key,
                         void *val,
                         flux_free_f free_fn)
{
    return embed_rc (embedGoPluginAuxSet (p, (char *)key, (uintptr_t)val, (uintptr_t)free_fn));
}

void *flux_plugin_aux_get (flux_plugin_t *p, const char *key)
{
    int err = 0;
    void *val = (void *)embedGoPluginAuxGet (p, (char *)key, &err);
    return embed_ptr (val, err);
}

const char *flux_plugin_get_conf (flux_plugin_t *p)
{
    return embedGoPluginConf (p);
}

int flux_plugin_arg_get (flux_plugin_arg_t *args, int flags, char **json_str)
{
    return embed_rc (embedGoArgGet (args, flags & FLUX_PLUGIN_ARG_OUT, json_str));
}

int flux_plugin_arg_set (flux_plugin_arg_t *args, int flags, const char *json_str)
{
    return embed_rc (embedGoArgSet (args,
                                    flags & FLUX_PLUGIN_ARG_OUT,
                                    flags & FLUX_PLUGIN_ARG_REPLACE,
                                    (char *)json_str));
}

void flux_plugin_arg_destroy (flux_plugin_arg_t *args)
{
    int saved_errno = errno;
    embedGoArgDestroy (args);
    errno = saved_errno;
}
