#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='reloads in a row under a random load: nothing held twice, nothing leaked, no job lost; R out of the KVS'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF="$(fake_conf 10 4 2)
[modules]
alternatives.sched = \"sched-simple\""
LIMIT=280
under_flux 1
. "$SHARNESS"

# RELOADS=100 is the long one; the seed is printed, SEED= has the same again.
: "${SEED:=$(date +%s)}"
: "${RELOADS:=50}"
storm() { timeout 200 flux python "$T/lib/storm.py" "$SO" "$@"; }
lost() { flux jobs -A -no '{id} {state}' -c 0 --filter=pending,running | grep .; }

test_expect_success 'start' 'load burrow'
test_expect_success "$RELOADS reloads, R out of the KVS, conservative" '
	nohooks && mark && storm $RELOADS $SEED policy=conservative && ! lost && booked &&
	wait_for 10 is allocated 0 && free_again && is nodes.all 10 &&
	! flux dmesg | grep "sched-burrow.err\|sched-burrow.warning\|BUG: panic"
'
test_expect_success 'end' 'load simple'
test_done
