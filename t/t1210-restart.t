#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='the broker is killed and starts from its statedir: windows are resumed in each phase'
. "$(dirname "$0")/lib/burrow.sh"
need_flux

# Each instance, below, runs this file again with a part to play in PART.  The
# dws side is played by hand: its holds and its event are posted.  What is older
# than a checkpoint is kept over a kill; see checkpoint-period.
DIR=$BURROW_UNDER_FLUX
checkpointed() { sleep 2.5; }
crash() { kill -9 "$(flux getattr broker.pid)"; }
slow() { echo "$1" > "$DIR/slow.0"; }
fine() { balanced "$1" && wait_for 20 all_down && ! test -e "$DIR/violations"; }
resumed() { wait_for 10 eval "flux dmesg | grep 'resumed: $1'"; }
agent() { flux module load "$SO"; }
# The plugin is loaded by the configuration
rabbit_job() { rabbit -n1 "$T/lib/task" 0.2 > "$DIR/id" && posted -m description=burrow-prolog "$(cat "$DIR/id")" prolog-start; }
# With variables, as dws posts it: flux-coral2's shell plugin wants them
environment() { flux post-job-event "$1" dws_environment variables='{}'; }

part_mount() {
	agent && rabbit_job && wait_for 10 any_up && checkpointed && crash
}
part_after_mount() {
	id=$(cat "$DIR/id") && resumed mounting && any_up && agent && sleep 0.5 && any_up &&
		environment "$id" && ended "$id" && events "$id" | grep finish=0 && fine "$id"
}
part_stop() {
	agent && rabbit_job && wait_for 10 any_up && slow 5 && environment "$(cat "$DIR/id")" && checkpointed && any_up && crash
}
part_after_stop() {
	id=$(cat "$DIR/id") && rm -f "$DIR/slow.0" && resumed stopping && agent &&
		ended "$id" && events "$id" | grep finish=0 && fine "$id"
}
part_cancel() {
	agent && rabbit_job && wait_for 10 any_up && checkpointed && crash
}
part_after_cancel() {
	id=$(cat "$DIR/id") && flux cancel "$id" && agent && ended "$id" && ! events "$id" | grep "^start" && fine "$id"
}
part_epilog() {
	agent && rabbit_job && environment "$(cat "$DIR/id")" && posted "$(cat "$DIR/id")" start && slow 5 &&
		posted -m description=burrow-epilog "$(cat "$DIR/id")" epilog-start && checkpointed && crash
}
part_after_epilog() {
	# What the killed broker had started ends first
	id=$(cat "$DIR/id") && sleep 4 && rm -f "$DIR/slow.0" && agent && ended "$id" && fine "$id" &&
		! flux dmesg | grep "job-manager.err.*burrow"
}
part_no_agent() {
	agent && rabbit_job && wait_for 10 any_up && checkpointed && crash
}
# Until its agent is there, the job is neither failed nor let go
part_after_no_agent() {
	id=$(cat "$DIR/id") && resumed mounting && environment "$id" && sleep 3 &&
		! events "$id" | grep "exception\|^start" && test -z "$(flux resource drain -no '{ranks}')" &&
		agent && ended "$id" && events "$id" | grep finish=0 && fine "$id"
}
# Orderly, with the job running
part_run() {
	agent && rabbit -n1 --setattr=exec.test.run_duration=60s true > "$DIR/id" && environment "$(cat "$DIR/id")" &&
		posted "$(cat "$DIR/id")" start && all_down
}
part_after_run() {
	id=$(cat "$DIR/id") && resumed running && agent && sleep 0.5 && all_down &&
		flux cancel "$id" && ended "$id" && fine "$id"
}
if test -n "$PART"; then
	part_$PART
	rc=$?
	test $rc = 0 || { flux job eventlog -H "$(cat "$DIR/id")"; flux dmesg | grep "job-manager\|burrow" | tail -n 40; }
	flux jobtap remove burrow.so && flux module remove burrow
	exit $rc
fi
. "$SHARNESS"

mkdir conf
{
	service_conf
	cat <<- TOML
	[modules]
	alternatives.sched = "sched-simple"
	alternatives.feasibility = "sched-simple"
	[kvs]
	checkpoint-period = "1s"
	[job-manager]
	plugins = [ { load = "$SO" } ]
	TOML
} > conf/burrow.toml
# instance PART - play a part in an instance with what the one before left
instance() {
	PART=$1 BURROW_UNDER_FLUX=$PWD FLUX_DISABLE_JOB_CLEANUP=1 \
		timeout -k 5 100 flux start -s1 -c conf -Sstatedir="$PWD/state" sh "$T/t1210-restart.t" < /dev/null
}
killed() { rm -rf state id up.* slow.* && mkdir state && instance "$1"; test $? = 137; }

for phase in mount stop cancel epilog no_agent; do
	test_expect_success "killed in its window: $phase" '
		killed '$phase' && instance after_'$phase'
	'
done
test_expect_success 'ended in good order while the job runs' '
	rm -rf state id up.* slow.* && mkdir state && instance run && instance after_run
'
test_done
