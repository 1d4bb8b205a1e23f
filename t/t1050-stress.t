#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='many jobs at once, a third of them rabbit jobs, some cancelled'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
: "${JOBS:=60}"
LIMIT=280
under_flux 8
need_dws
. "$SHARNESS"

# Children that the leader's broker has
children() { cat /proc/"$(flux getattr broker.pid)"/task/*/children | wc -w; }

test_expect_success 'set up' '
	dws_plugin && load_all && dws_service --check "$DIR"
'
test_expect_success 'jobs are over, all of them' '
	flux run -N8 true && children > before &&
	for i in $(seq $JOBS); do
		if test $((i % 3)) = 0; then
			rabbit -N$((i % 2 + 1)) "$T/lib/task" 0.2
		else
			flux submit -n$((i % 3)) "$T/lib/task" 0.1
		fi || return 1
	done > ids &&
	n=0 && for id in $(cat ids); do
		n=$((n + 1))
		if test $((n % 6)) = 0; then
			sleep 0.$((n % 10)) && { flux cancel $id 2>/dev/null || :; }
		fi
	done &&
	for id in $(cat ids); do ended $id || return 1; done
'
test_expect_success 'each hold that was taken was finished' '
	for id in $(cat ids); do balanced $id || { events $id; return 1; }; done
'
test_expect_success 'no task saw a service up' '
	! test -e "$DIR/violations"
'
test_expect_success 'no service is up now' 'wait_for 10 all_down'
test_expect_success 'no child is left' '
	wait_for 10 eval "test \$(children) -le $(cat before)"
'
test_expect_success 'nothing was drained, nothing panicked' '
	test -z "$(flux resource status -s drain -no {ranks})" &&
	! flux dmesg | grep "BUG: panic"
'
test_expect_success 'nothing is left' 'dws_stop && unload_all && dws_unplug'
test_done
