#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='no node is idle for a job that can not run yet: drained nodes, no time limits, epilogs that hang'
LIMIT=280
: "${POLICIES:=fifo easy}" # conservative: t3052
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
. "$T/lib/idle.sh"
on_four_brokers
. "$SHARNESS"

test_expect_success 'start' '
	flux queue start --all && epilogs
'
for policy in $POLICIES; do
	test_expect_success "$policy" 'policy '$policy' && wait_for 10 up 4'
	for obstacle in drained unlimited overdue; do
		for form in nodes queues property cores; do
			test_expect_success "$policy, rank 3 is $obstacle, $form" '
				idle '"$policy $obstacle $form"'
			'
			test_expect_success "$policy, rank 3 is $obstacle, $form: it is over" 'clean_up'
		done
	done
done
test_expect_success 'nothing was held twice' '
	booked
'
test_done
