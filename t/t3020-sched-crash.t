#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow is killed, the broker is killed: jobs live on, nothing is held twice'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
# Else the broker ends with a module that fails.
on_fake_nodes 16 4 0 --setattr=broker.module-nopanic=1
. "$SHARNESS"

# The process of a scheduler that was loaded with --exec
child() { ps -o pid=,args= --ppid "$(flux getattr broker.pid)" | awk '/[s]ched-burrow|burrow.so/ {print $1; exit}'; }
gone() { ! flux module list | grep -q sched-burrow; }
crash() { pid=$(child) && test -n "$pid" && kill -9 $pid && wait_for 10 gone; }

test_expect_success 'killed at rest: jobs run on under the next' '
	unload && load_exec && flux module stats sched-burrow > stats && a=$(submit -N4 --exclusive) && started $a &&
	crash && alive $a && load burrow && is hello.recovered 1 && is nodes.idle 12 && b=$(submit -N12 --exclusive) && started $b &&
	booked && cancel_all && free_again
'
test_expect_success 'killed in the middle of giving out, five times' '
	unload && for i in 1 2 3 4 5; do
		load_exec && flux submit --quiet --setattr=exec.test.run_duration=0.3s --cc=1-40 -n2 true &&
		crash || return 1
	done && load burrow && free_again && booked && is hello.fenced 0
'
test_expect_success 'killed in the middle of the hello, ten times' '
	submit --cc=1-16 -N1 > ids && all $(cat ids) && unload &&
	for i in 0 1 2 3 4 5 6 7 8 9; do
		load_exec && sleep 0.0$i && crash || return 1
	done && load burrow && is hello.recovered 16 && is nodes.idle 0 && alive $(cat ids) &&
	cancel_all && free_again && booked
'
for from in hooks nohooks; do
	test_expect_success "$from: killed between hello and ready, jobs ended meanwhile" '
		'$from' && submit --cc=1-16 -N1 > ids && all $(cat ids) && unload && head -n 4 ids | gap KILL && wait_for 10 gone &&
		alive $(tail -n 12 ids) && load burrow && is hello.recovered 12 && is hello.fenced 0 && is nodes.idle 4 &&
		alive $(tail -n 12 ids) && cancel_all && free_again && booked && nohooks
	'
done
test_expect_success 'killed while jobs end' '
	submit --cc=1-16 -N1 > ids && all $(cat ids) && unload && load_exec && flux module stats sched-burrow > stats &&
	flux cancel $(head -n 8 ids) && crash && flux cancel $(sed -n 9,12p ids) && load burrow &&
	wait_for 10 is allocated 4 && is nodes.idle 12 && alive $(tail -n 4 ids) && cancel_all && free_again
'
test_expect_success 'end' 'load simple'
test_done
