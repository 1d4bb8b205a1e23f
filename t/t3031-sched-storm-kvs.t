#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='reloads in a row under a random load: nothing held twice, nothing leaked, no job lost; R out of the KVS'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
on_fake_nodes 10 4 2
. "$SHARNESS"

test_expect_success 'start' 'load burrow'
test_expect_success "$RELOADS reloads, R out of the KVS, conservative" 'nohooks && storm policy=conservative'
test_expect_success 'end' 'load simple'
test_done
