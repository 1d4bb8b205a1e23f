#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='100 reloads in a row under a random load: nothing held twice, nothing leaked, no job lost'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF="$(fake_conf 10 4 2)
[modules]
alternatives.sched = \"sched-simple\""
LIMIT=280
under_flux 1
. "$SHARNESS"

: "${SEED:=$(date +%s)}"
storm() { timeout 120 flux python "$T/lib/storm.py" "$SO" "$@"; }
lost() { flux jobs -A -no '{id} {state}' -c 0 --filter=pending,running | grep .; }

test_expect_success 'start' 'load burrow'
for how in "hooks fifo"; do
	set -- $how
	test_expect_success "100 reloads, $how" '
		'$1' && mark && storm 100 $SEED policy='$2' && ! lost && booked &&
		wait_for 10 is allocated 0 && free_again && is nodes.all 10 &&
		! flux dmesg | grep "sched-burrow.err\|sched-burrow.warning\|BUG: panic"
	'
done
test_expect_success 'end' 'load simple'
test_done
