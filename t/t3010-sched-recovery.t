#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow restarts under running jobs, from their R alone'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF=$(two_queues)
on_fake_nodes 12 4 2
. "$SHARNESS"

test_expect_success 'start' '
	flux queue start --all && load burrow
'
for from in hooks nohooks; do
	test_expect_success "$from: a, b: with queues: four jobs run on, a fifth waits for one of them" '
		'$from' && a=$(submit -N1 --exclusive) && b=$(submit -N3 --exclusive) &&
		c=$(submit -N1 --exclusive) && d=$(submit -n3) && all $a $b $c $d && reload &&
		is hello.recovered 4 && is hello.fenced 0 && test $(warnings) = 0 &&
		alive $a $b $c $d && e=$(submit -N1 --exclusive) && sleep 0.5 && pending $e &&
		flux cancel $c && started $e && test "$(ranks $e)" = 4 && cancel_all && free_again
	'
	test_expect_success "$from: d: gpus, part of a node, two jobs on one node" '
		'$from' && a=$(submit -n2 -g1) && b=$(submit -n1) && c=$(submit -q debug -N2 --exclusive) &&
		all $a $b $c && reload && is hello.recovered 3 && is hello.fenced 0 &&
		d=$(submit -n1) && e=$(submit -n2 -g1) && all $d $e &&
		test "$(cores $d)" = rank0/core3 && test "$(ranks $e)" = 1 && cancel_all && free_again
	'
	test_expect_success "$from: d: nodes with a property, whole nodes" '
		'$from' && a=$(submit --requires=big -N1 --exclusive) && b=$(submit -N1 --exclusive) && all $a $b && reload &&
		is hello.recovered 2 && is hello.fenced 0 && test "$(ranks $a)" = 2 && test "$(ranks $b)" = 0 &&
		c=$(submit --requires=big -N1 --exclusive) && d=$(submit --requires=big -n1) && started $c && test "$(ranks $c)" = 3 &&
		sleep 0.5 && pending $d && flux cancel $a && started $d && test "$(ranks $d)" = 2 && cancel_all && free_again
	'
	test_expect_success "$from: i: jobs that end while no scheduler is loaded" '
		'$from' && a=$(submit -N2 --exclusive) && b=$(submit -N2 --exclusive) && all $a $b &&
		unload && flux cancel $a && wait_for 10 test "$(flux jobs -no "{state}" $a)" = INACTIVE &&
		load burrow && is hello.recovered 1 && is allocated 1 && cancel_all && free_again
	'
	test_expect_success "$from: h: an extended time limit" '
		'$from' && a=$(submit -N6 --exclusive -t 10m) && started $a && flux update $a duration=+100m &&
		reload policy=easy && b=$(submit -N6 --exclusive -t 1m) &&
		wait_for 10 sh -c "test -n \"\$(flux jobs -no \"{annotations.sched.t_estimate}\" $b)\"" &&
		flux jobs -no "{annotations.sched.t_estimate}" $b > t &&
		awk -v now=$(date +%s) "{ exit !(\$1 - now > 6000 && \$1 - now < 6700) }" t &&
		flux cancel $b && cancel_all && reload && free_again
	'
	test_expect_success "$from: b: the queue of a running job is gone" '
		'$from' && a=$(submit -q debug -N2 --exclusive) && b=$(submit -N1) && all $a $b &&
		flux config get > with.json && flux python -c "
import json
c = json.load(open(\"with.json\"))
del c[\"queues\"][\"debug\"]
json.dump(c, open(\"without.json\", \"w\"))" &&
		unload && flux config load without.json && mark && load burrow &&
		is hello.recovered 2 && is hello.fenced 0 && alive $a $b && flux config load with.json &&
		flux queue start --all && c=$(submit -q debug -N6 --exclusive) && sleep 0.5 && pending $c &&
		flux cancel $a && started $c && cancel_all && free_again
	'
	test_expect_success "$from: c: R of sched-simple" '
		'$from' && load simple && a=$(submit -N2 --exclusive) && b=$(submit -n1) && all $a $b &&
		reload && is hello.recovered 2 && is hello.fenced 0 && test $(warnings) = 0 &&
		flux cancel $a && cancel_all && free_again
	'
done
test_expect_success 'c: R with a scheduling key of another writer' '
	nohooks && a=$(submit -N2 --exclusive) && started $a && flux job info $a R > R &&
	flux python -c "
import json
R = json.load(open(\"R\"))
R[\"scheduling\"] = {\"graph\": {\"nodes\": [{\"id\": \"0\", \"metadata\": {\"type\": \"core\", \"rank\": 99}}], \"edges\": []}}
print(json.dumps(R), end=\"\")" > R2 &&
	flux kvs put "$(key $a R)"="$(cat R2)" && reload && is hello.recovered 1 && is hello.fenced 0 &&
	test $(warnings) = 0 && cancel_all && free_again
'
test_expect_success 'nothing was held twice' '
	booked && no_errors
'
test_expect_success 'sched-simple takes the running jobs over' '
	a=$(submit -N2 --exclusive) && started $a && load simple && b=$(submit -N2 --exclusive) && started $b &&
	test "$(ranks $b)" != "$(ranks $a)" && cancel_all
'
test_done
