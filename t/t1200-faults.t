#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='services that fail, agents and brokers that are lost: by policy, with the reason'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
LIMIT=280
under_flux 4 -Stbon.topo=kary:2 --test-exit-mode=leader
need_dws
. "$SHARNESS"

fine() { balanced "$1" && ! test -e "$DIR/violations"; }
drained() { flux resource drain -no '{ranks} {reason}'; }
# A wish that still waits may drain the node again
no_windows() { flux jobtap query burrow.so | tr -d ' \n' | grep -q '"windows":\[\]'; }
quiet() { wait_for 60 no_windows; }
conf() {
	{ printf "$1"; service_conf; } > "$DIR/conf/burrow.toml" && flux config reload
}

test_expect_success 'set up' '
	dws_plugin && load_all && dws_service
'
test_expect_success 'a service that does not stop: the node is drained with the true reason, the job gets an exception' '
	echo "umount: /mnt/nnf: target is busy" > "$DIR/fail.2" &&
	rabbit -N4 "$T/lib/task" > id && ended $(cat id) &&
	rm "$DIR/fail.2" &&
	drained > out && cat out &&
	grep "^2 burrow: .*nnf-clientmount.*target is busy" out &&
	test $(wc -l < out) = 1 &&
	events $(cat id) | grep exception:burrow-services &&
	! events $(cat id) | grep "^start" && fine $(cat id)
'
test_expect_success 'what failed is tried again, without an operator' '
	wait_for 20 all_down && quiet && flux resource undrain 2
'
test_expect_success 'tolerate = 1: the job goes on, the node is drained' '
	conf "[burrow]\ntolerate = 1\n" &&
	echo "no" > "$DIR/fail.3" &&
	rabbit -N4 true > id && ended $(cat id) && rm "$DIR/fail.3" &&
	events $(cat id) | grep "^start" &&
	drained | grep "^3 " && fine $(cat id) &&
	wait_for 20 all_down && quiet && flux resource undrain 3
'
test_expect_success 'on-failure = "raise": no drain, an exception' '
	conf "[burrow]\non-failure = \"raise\"\n" &&
	echo "no" > "$DIR/fail.1" &&
	rabbit -N4 true > id && ended $(cat id) && rm "$DIR/fail.1" &&
	events $(cat id) | grep exception:burrow-services &&
	test -z "$(drained)" && fine $(cat id) && wait_for 20 all_down
'
test_expect_success 'on-failure = "ignore": a log line' '
	conf "[burrow]\non-failure = \"ignore\"\n" &&
	echo "no" > "$DIR/fail.1" &&
	rabbit -N4 true > id && ended $(cat id) && rm "$DIR/fail.1" &&
	events $(cat id) | grep "^start" &&
	test -z "$(drained)" && fine $(cat id) &&
	flux dmesg | grep "job-manager.err.*rank 1" && wait_for 20 all_down
'
test_expect_success 'a change that hangs is given up after service-timeout' '
	conf "[burrow]\nservice-timeout = \"1s\"\n" &&
	: > "$DIR/hang.1" &&
	rabbit -N4 true > id && ended $(cat id) && rm "$DIR/hang.1" &&
	events $(cat id) | grep exception:burrow-services &&
	drained > out && cat out && grep "^1 burrow: .*nnf-clientmount.*1s" out && fine $(cat id) &&
	wait_for 30 all_down && quiet && flux resource undrain 1
'
test_expect_success 'a rank without an agent fails, those behind it do not' '
	conf "" &&
	flux exec -r 1 flux module remove burrow &&
	rabbit -N4 true > id && ended $(cat id) &&
	drained > out && cat out &&
	grep "^1 burrow: burrow agent is not loaded" out && test $(wc -l < out) = 1 && fine $(cat id) &&
	flux exec -r 1 flux module load "$SO" && flux resource undrain 1 &&
	rabbit -N4 "$T/lib/task" > id && ended $(cat id) && events $(cat id) | grep "finish=0"
'
test_expect_success 'a unit that a node lacks is skipped there' '
	: > "$DIR/absent.2" &&
	flux exec -r 2 flux module reload "$SO" &&
	rabbit -N4 "$T/lib/task" > id && ended $(cat id) && rm "$DIR/absent.2" &&
	events $(cat id) | grep "finish=0" && fine $(cat id) &&
	flux exec -r 2 flux module reload "$SO"
'
test_expect_success 'the agent is reloaded in mid-mount: it asks what is wanted' '
	dws_service --setup 3 &&
	rabbit -N4 "$T/lib/task" > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start && wait_for 10 test -e "$DIR/up.3" &&
	rm "$DIR/up.3" && flux exec -r 3 flux module reload "$SO" &&
	wait_for 3 test -e "$DIR/up.3" &&
	ended $(cat id) && events $(cat id) | grep "finish=0" && fine $(cat id) && wait_for 10 all_down
'
test_expect_success 'an unmount that was given up keeps the services up until the next window' '
	dws_service --give-up &&
	rabbit -N2 true > id && ended $(cat id) && wait_for 5 any_up && sleep 1 && any_up &&
	flux dmesg | grep "unmount was given up" &&
	flux submit -N4 "$T/lib/task" > id2 && ended $(cat id2) &&
	events $(cat id2) | grep "finish=0" && fine $(cat id2) && wait_for 10 all_down
'
test_expect_success 'the job manager is reloaded in mid-prolog' '
	dws_service --setup 3 &&
	rabbit -N2 "$T/lib/task" > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start &&
	flux module reload -f job-manager &&
	dws_plugin && flux jobtap load "$SO" &&
	for m in job-exec job-ingest sched-simple; do flux module reload -f $m || return 1; done &&
	ended $(cat id) && fine $(cat id) && wait_for 10 all_down
'
test_expect_success 'a broker that is lost in mid-mount: its reason, and no job is stuck' '
	dws_service --setup 3 &&
	rabbit -N4 true > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start && wait_for 10 test -e "$DIR/up.3" &&
	kill -9 $(flux exec -r 3 flux getattr broker.pid) &&
	ended $(cat id) && fine $(cat id)
'
test_expect_success 'nothing panicked' '
	dws_stop && flux jobtap remove burrow.so &&
	{ flux exec -q -r 0-2 flux module remove burrow || :; } && dws_unplug &&
	! flux dmesg | grep "BUG: panic"
'
test_done
