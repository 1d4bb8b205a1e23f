// SPDX-License-Identifier: LGPL-3.0-or-later
/* agree.c - flux-core's headers and cgo/abi/ in one translation unit
 *
 * A function that both declare must have compatible types, or this does not
 * compile.  What abi/ defines (types, constants) can't be defined twice, so
 * the types are flux-core's and each constant and layout is compared.
 */
#include <stddef.h>
#include <flux/core.h>
#include <flux/jobtap.h>

#define BURROW_ABI_AGREE 1
#include "../../cgo/abi/flux.h"

int main (void)
{
    return 0;
}
