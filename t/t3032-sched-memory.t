#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='memory does not grow with reloads'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
on_fake_nodes 10 4 2
. "$SHARNESS"

test_expect_success 'start' 'load burrow'
# What a scheduler that is loaded now says of memory, in kB
resident() { awk '/^VmRSS/ {print $2}' /proc/$(flux getattr broker.pid)/status; }
test_expect_success 'memory does not grow with reloads' '
	nohooks && submit --cc=1-10 -N1 --exclusive > ids && all $(cat ids) &&
	for i in 1 2 3 4 5; do load burrow || return 1; done && resident > a &&
	for i in $(seq 20); do load burrow || return 1; done && resident > b &&
	echo "before $(cat a) kB, 20 reloads later $(cat b) kB" &&
	test $(($(cat b) - $(cat a))) -lt 4096 && cancel_all
'
test_expect_success 'end' 'load simple'
test_done
