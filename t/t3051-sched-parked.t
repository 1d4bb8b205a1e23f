#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='a job that the nodes that are up could not run is parked: its reason, its return; estimates'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
. "$T/lib/idle.sh"
on_four_brokers
. "$SHARNESS"

test_expect_success 'start' '
	flux queue start --all && epilogs
'
for policy in $POLICIES; do
	test_expect_success "$policy: the reason has how many nodes fit, how many are down, which and why" '
		policy '$policy' && drain_3 "fan 7 is broken" && head=$(submit -N4 --exclusive -t 10m) &&
		tells $head "needs 4" "\<3\>.*up\|\<3\> of 4" "\<1\>.*down\|\<1\>.*drained" "drained" "rank 3\|n3" "fan 7 is broken" &&
		! estimated $head && undrain_3 && soon $head && test -z "$(reason $head)"
	'
	test_expect_success "$policy: over" 'clean_up'
	test_expect_success "$policy: back in its place by priority, before younger jobs" '
		drain_3 "fan" && head=$(submit -N4 --exclusive -t 10m) && waits $head &&
		first=$(submit -N3 --exclusive -t 5m) && soon $first &&
		young=$(submit -N1 --exclusive -t 20m) && waits $young && undrain_3 && waits $head $young &&
		cancel $first && soon $head && waits $young && cancel $head && soon $young
	'
	test_expect_success "$policy: over" 'clean_up'
	test_expect_success "$policy: a node that is drained while a job runs on it" '
		u=$(submit -N1 --exclusive --requires=rank:3 -t 10m) && started $u && drain_3 "fan" &&
		head=$(submit -N4 --exclusive -t 10m) && one=$(submit -N1 --exclusive -t 1h) && two=$(submit -N2 --exclusive -t 1h) &&
		soon $one $two && waits $head && tells $head drained && cancel $u && waits $head &&
		undrain_3 && waits $head && flux cancel $one $two && soon $head
	'
	test_expect_success "$policy: over" 'clean_up'
	test_expect_success "$policy: drained when the head waits already" '
		a=$(submit -N2 --exclusive -t 10m --requires=rank:0-1) && started $a && head=$(submit -N4 --exclusive -t 10m) &&
		long=$(submit -N1 --exclusive -t 1h) && waits $head $long && drain_3 "fan" && soon $long &&
		tells $head drained && ! estimated $head && undrain_3 && cancel $a && waits $head && cancel $long && soon $head
	'
	test_expect_success "$policy: over" 'clean_up'
done
test_expect_success 'conservative: each job has an estimate, none is in the past' '
	policy conservative && a=$(submit -N4 --exclusive -t 10m) && started $a &&
	b=$(submit -N4 --exclusive -t 10m) && c=$(submit -N2 --exclusive -t 10m) && d=$(submit -N3 --exclusive -t 10m) &&
	estimate_in $b 580 601 && estimate_in $c 1180 1202 && estimate_in $d 1780 1803
'
test_expect_success 'conservative: over' 'clean_up'
test_expect_success 'conservative: none behind a job without a time limit' '
	a=$(submit -N4 --exclusive) && started $a && b=$(submit -N4 --exclusive -t 10m) && c=$(submit -N1 --exclusive -t 1m) &&
	tells $b "needs 4" && tells $c "needs 1" && waits $b $c && ! estimated $b && ! estimated $c
'
test_expect_success 'conservative: over' 'clean_up'
test_expect_success 'conservative: none once a node of it has one, and one again when that is over' '
	a=$(submit -N3 --exclusive -t 10m --requires=rank:0-2) && u=$(submit -N1 --exclusive --requires=rank:3) && all $a $u &&
	b=$(submit -N4 --exclusive -t 10m) && tells $b "needs 4" && waits $b && ! estimated $b &&
	cancel $u && estimate_in $b 580 601
'
test_expect_success 'conservative: over' 'clean_up'
test_expect_success 'conservative: behind a job past its limit estimates go on, and are not in the past' '
	obstacle overdue && b=$(submit -N4 --exclusive -t 10m) && c=$(submit -N4 --exclusive -t 10m) &&
	for i in 1 2 3 4 5 6; do
		estimate_in $b -1 60 && estimate_in $c 540 700 && sleep 1 || return 1
	done && gone overdue && soon $b
'
test_expect_success 'conservative: over' 'clean_up'
test_expect_success 'nothing was held twice, nothing is left' '
	booked && free_again && no_errors
'
# Last, as it does not come back
for policy in $POLICIES; do
	test_expect_success "$policy: a broker that is lost parks, too" '
		policy '$policy' && { ! up 4 || kill -9 $(flux exec -r 3 flux getattr broker.pid); } && wait_for 20 up 3 &&
		head=$(submit -N4 --exclusive -t 10m) && one=$(submit -N1 --exclusive -t 1m) && two=$(submit -N2 --exclusive -t 1m) &&
		soon $one $two && waits $head && tells $head "needs 4" "down\|offline\|lost" "rank 3\|n3" && ! estimated $head &&
		cancel_all
	'
done
test_done
