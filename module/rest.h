// SPDX-License-Identifier: LGPL-3.0-or-later
#ifndef BURROW_REST_H
#define BURROW_REST_H

/* Let go of the object's own read-only pages in some seconds. */
void burrow_rest_later (flux_t *h, double seconds);

#endif
