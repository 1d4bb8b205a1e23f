#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow schedules: jobspec, constraints, policies and the whole protocol'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF="$(two_queues)
[ingest.validator]
plugins = [\"jobspec\", \"feasibility\"]"
on_fake_nodes 8 4 2
. "$SHARNESS"

test_expect_success 'queues are started' '
	flux queue start --all
'
test_expect_success 'it takes the place of sched-simple' '
	load burrow && is state ready && is nodes.up 8 &&
	test "$(flux resource list -s free -no "{ncores}")" = 32
'
test_expect_success 'a bad argument refuses the load, with the reason' '
	unload && mark &&
	test_must_fail flux module load --name=sched-burrow "$SO" policy=lifo &&
	test_must_fail flux module load --name=sched-burrow "$SO" queue-depth=0 &&
	test_must_fail flux module load --name=sched-burrow "$SO" colour=red &&
	flux dmesg > log &&
	grep "policy=.*lifo.* is none of fifo" log && grep "queue-depth=.*0" log && grep "colour=red" log &&
	mark && load burrow
'
test_expect_success 'slots, whole nodes, gpus' '
	a=$(submit -n3 -c2) && b=$(submit -N2 --exclusive) && c=$(submit -q debug -n2 -g1) &&
	for id in $a $b $c; do started $id || return 1; done &&
	cores $a && cores $b && cores $c &&
	test "$(cores $a)" = "rank0/core[0-3] rank1/core[0-1]" &&
	test "$(cores $b)" = "rank[2-3]/core[0-3],gpu[0-1]" &&
	test "$(cores $c)" = "rank4/core[0-1],gpu[0-1]" &&
	flux job info $b R | grep "\"big\": *\"2-3\"" &&
	test "$(flux resource list -s allocated -no "{ncores}")" = 16 &&
	flux jobs -no "{annotations.sched.resource_summary}" $b | grep "rank\[2-3\]"
'
test_expect_success 'sched.resource-status says the same' '
	flux python -c "
import flux, json
s = flux.Flux().rpc(\"sched.resource-status\").get()
print(json.dumps(s[\"allocated\"]))" > status &&
	test "$(flux R decode --short < status)" = "rank0/core[0-3] rank1/core[0-1] rank[2-3]/core[0-3],gpu[0-1] rank4/core[0-1],gpu[0-1]"
'
test_expect_success 'a job that does not fit waits, is told why, and runs when there is room' '
	d=$(submit -N2 --exclusive) &&
	told() { test -n "$(flux jobs -no "{annotations.sched.reason_pending}" $d)"; } && wait_for 10 told &&
	pending $d &&
	flux jobs -no "{annotations.sched.reason_pending}" $d | grep "needs 2 whole nodes, 0 are free" &&
	cancel $b && started $d && test "$(ranks $d)" = "[2-3]" &&
	test -z "$(flux jobs -no "{annotations.sched.reason_pending}" $d)" &&
	cancel_all && free_again
'
test_expect_success 'constraints' '
	a=$(submit -q debug --requires="rank:5 or rank:7" -N2) && started $a && test "$(ranks $a)" = "[5,7]" &&
	b=$(submit --requires=big -N1) && started $b && test "$(ranks $b)" = 2 &&
	c=$(submit --requires="not big and rank:1-3" -N1) && started $c && test "$(ranks $c)" = 1 &&
	cancel_all
'
test_expect_success 'what can not be is refused at submission, in words' '
	test_must_fail submit -N5 2> err && cat err && grep "unsatisfiable request: it needs 5" err &&
	test_must_fail submit -n1 -g3 2> err && grep "3 gpus" err &&
	test_must_fail submit --requires=nosuch -n1 2> err && grep "no node matches the constraint" err &&
	test $(stat count.feasibility) -ge 3
'
test_expect_success 'what can not be is denied where nobody asked before' '
	flux config get > yes.json && flux python -c "
import json
c = json.load(open(\"yes.json\"))
c[\"ingest\"][\"validator\"] = {\"disable\": True}
json.dump(c, open(\"no.json\", \"w\"))" &&
	flux submit --dry-run $MOCK -N1 true > spec &&
	sed "s/\"type\": \"node\", \"count\": 1/\"type\": \"node\", \"count\": 99/" spec > bad &&
	flux config load no.json && id=$(flux job submit bad) && flux config load yes.json &&
	why $id > note && cat note && grep "unsatisfiable request: it needs 99" note
'
# The tools of flux-core 0.88 do not submit a range.
feasible() {
	flux python -c "
import json, sys, flux
spec = json.load(open(\"spec\"))
spec[\"resources\"][0][\"count\"] = json.loads(sys.argv[1])
try:
    flux.Flux().rpc(\"feasibility.check\", {\"jobspec\": spec}).get()
except OSError as e:
    sys.exit(e.strerror)" "$1"
}
test_expect_success 'a range of nodes is understood' '
	feasible "{\"min\": 2, \"max\": 16, \"operator\": \"*\", \"operand\": 2}" && feasible "\"2+\"" &&
	test_must_fail feasible "\"9-99\"" 2> err && cat err && grep "it needs 9" err &&
	test_must_fail feasible "\"3-\"" 2> err && cat err && grep "count" err
'
test_expect_success 'the more urgent goes first' '
	a=$(submit -N4 --exclusive) && started $a &&
	b=$(submit -N4 --exclusive) && c=$(submit -N4 --exclusive) &&
	flux job urgency $c 25 && cancel $a && started $c && pending $b &&
	flux cancel $b $c && flux queue drain && is pending 0
'
test_expect_success 'a time limit is extended' '
	a=$(submit -N1 -t 10m) && started $a && n=$(stat count.expiration) &&
	flux update $a duration=+1h && is count.expiration $((n + 1)) && cancel $a
'
test_expect_success 'a stopped queue takes its jobs back' '
	a=$(submit -N4 --exclusive) && started $a && b=$(submit -N1) && pending $b &&
	flux queue stop batch && wait_for 10 is pending 0 &&
	cancel $a && pending $b && flux queue start batch && started $b && cancel $b
'
test_expect_success 'the two queues do not wait for each other' '
	a=$(submit -N4 --exclusive) && b=$(submit -N1) && c=$(submit -q debug -N1) &&
	started $a && started $c && pending $b && cancel_all
'
test_expect_success 'a limited queue depth' '
	load burrow queue-depth=2 && a=$(submit -N4 --exclusive) && started $a &&
	submit --cc=1-5 -N1 > ids && sleep 0.5 && test $(stat pending) -le 2 &&
	flux cancel $a && for id in $(cat ids); do
		started $id && cancel $id || return 1
	done
'
for policy in easy conservative; do
	test_expect_success "$policy: a short job goes ahead of one that waits, a long one does not" '
		load burrow policy='$policy' &&
		a=$(submit -N3 --exclusive -t 10m) && started $a &&
		b=$(submit -N4 --exclusive -t 10m) && c=$(submit -N1 -t 30m) && d=$(submit -N1 -t 5m) &&
		started $d && pending $b && pending $c &&
		told() { flux jobs -no "{annotations.sched.t_estimate}" $b | grep "[1-9]"; } && wait_for 10 told &&
		flux job info $d eventlog | grep backfill &&
		flux cancel $a $d && started $b && cancel_all
	'
done
test_expect_success 'match best fills up, match worst spreads' '
	load burrow match=best && a=$(submit -n1 --requires=rank:1) && b=$(submit -n1) &&
	started $b && test "$(ranks $b)" = 1 && cancel_all &&
	load burrow match=worst && a=$(submit -n1) && b=$(submit -n1) && started $b &&
	test "$(ranks $b)" = 1 && cancel_all
'
test_expect_success 'it runs in a process of its own' '
	unload && flux module load --exec --name=sched-burrow "$SO" &&
	a=$(submit -N1) && started $a && cancel $a
'
test_expect_success 'nothing was held twice, nothing is left' '
	booked && free_again && no_errors
'
test_expect_success 'and sched-simple takes its place' '
	load simple && a=$(submit -N1) && started $a && cancel $a
'
test_done
