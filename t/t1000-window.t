#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='the window of a rabbit job: services are down while its tasks run'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
under_flux 4
need_dws
. "$SHARNESS"

# What holds for each job that is over
fine() {
	balanced "$1" && all_down && ! test -e "$DIR/violations"
}

test_expect_success 'the dws plugin comes before burrow' '
	echo "dws plugin: $(dws_kind)" &&
	dws_plugin &&
	load_all &&
	dws_service --check "$DIR"
'
clean_run() {
	rabbit -N2 "$T/lib/task" 0.5 > id &&
	ended $(cat id) &&
	before $(cat id) prolog-start:burrow-prolog dws_environment &&
	before $(cat id) dws_environment prolog-finish:burrow-prolog &&
	before $(cat id) prolog-finish:burrow-prolog start &&
	before $(cat id) start epilog-start:burrow-epilog &&
	before $(cat id) epilog-finish:dws-epilog epilog-finish:burrow-epilog &&
	before $(cat id) epilog-finish:burrow-epilog free &&
	fine $(cat id)
}
test_expect_success 'a clean run' 'clean_run'
test_expect_success 'each node went up and down for mount and for unmount' '
	awk "{print \$3, \$2, \$4}" "$DIR/changes" | sort -s -k1,1n > seen &&
	for r in $(cut -d" " -f1 seen | uniq); do
		printf "%s start mount\n%s stop run\n%s start unmount\n%s stop idle\n" $r $r $r $r
	done > expected &&
	test $(wc -l < seen) = 8 && test_cmp expected seen
'
test_expect_success 'the prolog was let go only after each node was down' '
	last=$(grep " run " "$DIR/changes" | tail -n 1 | cut -d" " -f1) &&
	flux job eventlog $(cat id) | awk "/prolog-finish/ && /burrow/ {print \$1}" > finish &&
	awk -v a="$last" -v b="$(cat finish)" "BEGIN { exit !(a < b) }"
'
test_expect_success 'another job costs nothing: no hold, no process' '
	changes > n0 &&
	flux submit -N4 "$T/lib/task" > id && ended $(cat id) &&
	! events $(cat id) | grep burrow &&
	changes > n1 && test_cmp n0 n1 && fine $(cat id)
'
test_expect_success 'cancelled before dws_environment' '
	dws_service --never &&
	rabbit -N4 "$T/lib/task" > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start &&
	wait_for 10 any_up && flux cancel $(cat id) && ended $(cat id) &&
	! events $(cat id) | grep "^start" &&
	fine $(cat id)
'
test_expect_success 'cancelled after it, while a node is slow to stop' '
	dws_service --check "$DIR" &&
	rabbit -N2 "$T/lib/task" > id &&
	wait_for 10 any_up && for r in 0 1 2 3; do echo 2 > "$DIR/slow.$r"; done &&
	posted $(cat id) dws_environment && flux cancel $(cat id) && ended $(cat id) &&
	rm -f "$DIR"/slow.* &&
	! events $(cat id) | grep "^start" &&
	fine $(cat id)
'
test_expect_success 'an exception while its tasks run' '
	rabbit -N2 "$T/lib/task" 60 > id &&
	posted $(cat id) start && sleep 0.3 &&
	flux job raise --type=test $(cat id) && ended $(cat id) &&
	before $(cat id) finish epilog-finish:dws-epilog &&
	fine $(cat id)
'
test_expect_success 'ten cancels at moments between the prolog and the start' '
	for i in 0 1 2 3 4 5 6 7 8 9; do
		rabbit -N1 "$T/lib/task" > id &&
		posted $(cat id) dws_environment && sleep 0.$i &&
		{ flux cancel $(cat id) || :; } && ended $(cat id) && fine $(cat id) || return 1
	done
'
test_expect_success 'unloaded in mid-prolog, no job is stuck, nor beside its services' '
	dws_service --setup 1.5 &&
	rabbit -N2 "$T/lib/task" 0.3 > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start && wait_for 10 any_up &&
	flux jobtap remove burrow.so && any_up &&
	ended $(cat id) && balanced $(cat id) && ! test -e "$DIR/violations" &&
	events $(cat id) | grep "finish=0" &&
	flux jobtap load "$SO" && wait_for 10 all_down
'
test_expect_success 'dws_environment comes while it is not there' '
	rabbit -N2 "$T/lib/task" 0.3 > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start && wait_for 10 any_up &&
	flux jobtap remove burrow.so && posted $(cat id) dws_environment && flux jobtap load "$SO" &&
	ended $(cat id) && fine $(cat id) && events $(cat id) | grep "finish=0" && wait_for 10 all_down
'
test_expect_success 'unloaded while services go down, the job starts only when they are' '
	dws_service --setup 0.3 && for r in 0 1 2 3; do echo 1.5 > "$DIR/slow.$r"; done &&
	rabbit -N2 "$T/lib/task" 0.3 > id &&
	posted $(cat id) dws_environment && wait_for 10 any_up &&
	flux jobtap remove burrow.so &&
	ended $(cat id) && balanced $(cat id) && ! test -e "$DIR/violations" &&
	events $(cat id) | grep "finish=0" &&
	rm -f "$DIR"/slow.* &&
	flux jobtap load "$SO" && wait_for 20 all_down
'
test_expect_success 'and so if it is loaded again meanwhile' '
	for r in 0 1 2 3; do echo 1.5 > "$DIR/slow.$r"; done &&
	rabbit -N2 "$T/lib/task" 0.3 > id &&
	posted $(cat id) dws_environment && wait_for 10 any_up &&
	flux jobtap remove burrow.so && flux jobtap load "$SO" &&
	ended $(cat id) && rm -f "$DIR"/slow.* && balanced $(cat id) && wait_for 20 all_down &&
	! test -e "$DIR/violations" && events $(cat id) | grep "finish=0"
'
test_expect_success 'unloaded and loaded in mid-prolog, the window goes on' '
	dws_service --setup 1.5 &&
	rabbit -N2 "$T/lib/task" 0.3 > id &&
	posted -m description=burrow-prolog $(cat id) prolog-start &&
	flux jobtap remove burrow.so && flux jobtap load "$SO" &&
	ended $(cat id) && fine $(cat id) &&
	before $(cat id) dws_environment start
'
test_expect_success 'the dws plugin comes after burrow' '
	unload_all && dws_unplug && load_all && dws_plugin &&
	dws_service --check "$DIR" && clean_run
'
test_expect_success 'environment-timeout raises burrow-timeout' '
	{ printf "[burrow]\nenvironment-timeout = \"1s\"\n"; service_conf; } > "$DIR/conf/burrow.toml" &&
	flux config reload &&
	dws_service --never &&
	rabbit -N2 true > id && ended $(cat id) &&
	events $(cat id) | grep "exception:burrow-timeout" && fine $(cat id)
'
test_expect_success 'disabled, it takes no hold' '
	{ printf "[burrow]\nenable = false\n"; service_conf; } > "$DIR/conf/burrow.toml" &&
	flux config reload &&
	dws_service &&
	rabbit -N2 true > id && ended $(cat id) &&
	! events $(cat id) | grep burrow
'
test_expect_success 'nothing is left of it' '
	dws_stop && unload_all && dws_unplug &&
	! flux dmesg | grep "BUG: panic" &&
	! test -e "$DIR/violations"
'
test_done
