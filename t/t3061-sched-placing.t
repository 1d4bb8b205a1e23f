#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow: jobs around and inside advance reservations, whole nodes, match=last'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
FLUX_EXEC_PATH_PREPEND=$BUILD/cmd/flux-burrow${FLUX_EXEC_PATH_PREPEND:+:$FLUX_EXEC_PATH_PREPEND}
export FLUX_EXEC_PATH_PREPEND
CONF="$(two_queues)
[ingest.validator]
plugins = [\"jobspec\", \"feasibility\"]"
on_fake_nodes 8 4 2
. "$SHARNESS"

reserve() { flux burrow reserve "$@"; }
inside() { name=$1 && shift && submit --setattr=system.burrow.reservation=$name "$@"; }
me=$(id -un)

test_expect_success 'start' '
	flux queue start --all && load burrow policy=easy
'
test_expect_success 'a job that may still run when a reservation begins is not started there' '
	reserve add soon --ranks 3 --start +30s --duration 1h --reason "fan" &&
	long=$(submit -N4 --exclusive -t 10m) && none=$(submit -N4 --exclusive) &&
	three=$(submit -N3 --exclusive -t 10m) && short=$(submit -N1 --exclusive -t 20s) &&
	started $three && started $short && test "$(ranks $three)" = "[0-2]" && test "$(ranks $short)" = 3 &&
	pending $long && pending $none && cancel_all
'
test_expect_success 'a reload keeps that' '
	load burrow policy=conservative && long=$(submit -N4 --exclusive -t 10m) && one=$(submit -N1 --exclusive -t 10m) &&
	started $one && test "$(ranks $one)" != 3 && pending $long &&
	wait_for 5 test -n "$(flux jobs -no "{annotations.sched.t_estimate}" $long)" &&
	reserve remove soon && flux cancel $one && started $long && cancel_all
'
test_expect_success 'jobs of its users that name it run inside, and nowhere else' '
	load burrow policy=easy && reserve add team --ranks 2-3 --start +4s --duration 1h --users $me &&
	a=$(inside team -N2 --exclusive -t 5m) && b=$(submit -N2 --exclusive -t 5m) && c=$(inside team -N1 --exclusive) &&
	started $b && test "$(ranks $b)" = "[0-1]" && pending $a &&
	started $a && test "$(ranks $a)" = "[2-3]" && pending $c && flux cancel $a && started $c &&
	d=$(submit -N1 --exclusive -t 1m) && e=$(submit -N2 --exclusive -t 1m) && sleep 0.5 && pending $d && pending $e &&
	test_must_fail inside team -N3 2> err && cat err && grep "of the 2 nodes of the advance reservation team too few" err &&
	test_must_fail inside team -N1 -t 2h 2> err && grep "longer than the advance reservation team" err &&
	test_must_fail inside nosuch -N1 2> err && grep "there is no advance reservation .nosuch" err &&
	cancel_all && reserve remove team
'
test_expect_success 'maintenance is for nobody' '
	reserve add maint --ranks 0-3 --start now --duration 1h && a=$(inside maint -N1 -t 1m) && b=$(submit -N1 -t 1m) &&
	sleep 1 && pending $a && pending $b && d=$(submit -q debug -N1 -t 1m) && started $d &&
	wait_for 5 eval "flux jobs -no \"{annotations.sched.reason_pending}\" $a | grep maint" &&
	cancel $a && reserve remove maint && started $b && cancel_all
'
test_expect_success 'node-exclusive: whole nodes for all, and R has the whole node' '
	load burrow node-exclusive=true && a=$(submit -n1) && b=$(submit -N1 -n1) && started $a && started $b &&
	test "$(cores $a)" = "rank0/core[0-3],gpu[0-1]" && test "$(cores $b)" = "rank1/core[0-3],gpu[0-1]" && cancel_all
'
test_expect_success 'node-exclusive: nodes with a property only' '
	load burrow node-exclusive=big && a=$(submit -n1 --requires=big) && b=$(submit -n1 --requires=big) &&
	c=$(submit -n1 --requires=rank:0) && d=$(submit -n1 --requires=rank:0) &&
	for id in $a $b $c $d; do started $id || return 1; done &&
	test "$(cores $a)" = "rank2/core[0-3],gpu[0-1]" && test "$(cores $b)" = "rank3/core[0-3],gpu[0-1]" &&
	test "$(ranks $c)" = 0 && test "$(ranks $d)" = 0 && cancel_all
'
test_expect_success 'match=last: the highest ranks first' '
	load burrow match=last && a=$(submit -N2 --exclusive) && b=$(submit -n1) && started $a && started $b &&
	test "$(ranks $a)" = "[2-3]" && test "$(ranks $b)" = 1 && cancel_all
'
test_expect_success 'nothing was held twice, nothing is left' '
	booked && free_again && no_errors
'
test_expect_success 'end' '
	load simple
'
test_done
