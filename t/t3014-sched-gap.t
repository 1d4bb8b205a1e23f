#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='200 of 1,500 jobs are cancelled between hello and ready: nothing stays allocated'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
on_fake_nodes 1500 1 0
. "$SHARNESS"

# end_some N - N jobs end between hello and ready
end_some() {
	head -n "$1" ids > some && sed "1,$1d" ids > rest && mv rest ids && gap CONT < some && flux module stats sched-burrow > stats
}
# The hooks are there before the jobs: they would look for the services of one
# that ends while they read its eventlog, and no agent is on a fake node.
test_expect_success 'start' '
	hooks && load burrow && submit --cc=1-1500 -N1 > ids &&
	flux job wait-event -q -t 90 $(tail -n 1 ids) start && is allocated 1500
'
test_expect_success 'hooks: i: jobs that end between hello and ready' '
	unload && end_some 200 && is hello.recovered 1500 && wait_for 10 is hello.lost_jobs 200 &&
	is allocated 1300 && is nodes.idle 200 && submit -N200 > more && started $(cat more) &&
	b=$(submit -N1) && sleep 0.5 && pending $b && flux cancel $(cat more) && started $b && cancel $b
'
test_expect_success 'nohooks: i: jobs that end between hello and ready' '
	nohooks && unload && end_some 200 && is hello.recovered 1300 && wait_for 10 is hello.lost_jobs 200 &&
	is allocated 1100 && is nodes.idle 400 && submit -N400 > more && started $(cat more)
'
test_expect_success 'all is free in the end' '
	cancel_all && free_again && no_doubts
'
test_expect_success 'end' 'load simple'
test_done
