#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='the broker is killed, or ends, and starts again from its statedir with sched-burrow'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
need_flux

# Each instance, below, runs this file again with a part to play in PART. Facts
# about jobs go from one to the next in files.
#
# What a killed broker keeps is what was in its last checkpoint, and job-exec
# can't go on with tasks that it had started: it ends these jobs. A job in its
# prolog has resources and no tasks, and lives on: a prolog-start is posted to
# it before it has its turn, and nothing finishes that before the kill.

PROLOG=description=held
# in_prolog ARGS... - submit a job and wait until it is held in its prolog
in_prolog() {
	id=$(submit --urgency=0 "$@") && flux post-job-event "$id" prolog-start $PROLOG &&
		flux job urgency "$id" 16 > /dev/null && posted "$id" alloc && echo "$id"
}
# What is older than this is in a checkpoint; see checkpoint-period below.
checkpointed() { sleep 2.5; }
crash() { kill -9 "$(flux getattr broker.pid)"; }
holds() { for id in "$@"; do echo "$id $(cores "$id")"; done; }
# A job that was being given its resources at the kill is refused, with a warning
no_faults() { ! flux dmesg | grep -v "submit it again" | grep "sched-burrow.err\|sched-burrow.warning\|already allocated\|BUG: panic"; }
# The scheduler is the one that rc1 loaded
here() { flux module list | grep -q '^sched-burrow ' && flux module stats sched-burrow > stats; }

part_kill() {
	here && a=$(in_prolog -N2 --exclusive) && b=$(in_prolog -n1) && c=$(submit -N1 --exclusive) &&
		started "$c" && d=$(submit -N4 --exclusive) && sleep 0.5 && pending "$d" &&
		echo "$a $b" > held && echo "$c" > ran && echo "$d" > waits && holds "$a" "$b" > before &&
		checkpointed && crash
}
part_after_kill() {
	here && read -r a b < held && read -r d < waits && ended "$(cat ran)" &&
		holds "$a" "$b" > after && cat after && diff before after && wait_for 10 is allocated 2 &&
		is hello.fenced 0 && alive "$a" "$b" && pending "$d" &&
		e=$(submit -n1 --urgency=20) && started "$e" && test "$(cores "$e")" = rank2/core1 && booked &&
		flux post-job-event "$a" prolog-finish $PROLOG status=0 && started "$a" && holds "$a" "$b" | diff before - &&
		pending "$d" && flux post-job-event "$b" prolog-finish $PROLOG status=0 && started "$b" &&
		flux cancel "$b" "$e" && started "$d" && test "$(ranks "$d")" = "[2-5]" && alive "$a" &&
		booked && cancel_all && free_again && no_faults
}
part_rush() {
	here && submit --quiet --cc=1-4 -n2 -t 1m --setattr=exec.test.run_duration=1s &&
		in_prolog -N1 --exclusive > held && holds "$(cat held)" > before && checkpointed &&
		flux submit --quiet --cc=1-60 --setattr=exec.test.run_duration=0.2s -n3 true && sleep "0.$1" && crash
}
part_after_rush() {
	here && read -r a < held && alive "$a" && holds "$a" | diff before - &&
		b=$(submit -N1) && started "$b" && cancel "$b" &&
		flux post-job-event "$a" prolog-finish $PROLOG status=0 && started "$a" && cancel "$a" &&
		free_again && booked && no_faults
}
part_end() {
	here && a=$(submit -N2 --exclusive) && b=$(submit -n3) && all "$a" "$b" &&
		d=$(submit -N4 --exclusive) && sleep 0.5 && pending "$d" &&
		echo "$a $b" > held && echo "$d" > waits && holds "$a" "$b" > before
}
part_after_end() {
	here && read -r a b < held && read -r d < waits && is hello.recovered 2 && is hello.fenced 0 && is nodes.idle 3 &&
		alive "$a" "$b" && holds "$a" "$b" | diff before - && pending "$d" && booked &&
		flux cancel "$b" && started "$d" && test "$(ranks "$d")" = "[2-5]" && alive "$a" &&
		booked && cancel_all && free_again && no_faults
}

# A job that was not yet told of its R when the broker ended: it waits, with R
part_stale() {
	here && a=$(submit -n1) && started "$a" && c=$(submit --urgency=0 -n1) &&
		flux job info "$a" R > R && flux kvs put --raw "$(key "$c" R)=$(cat R)" && echo "$c" > waits
}
part_after_stale() {
	here && read -r c < waits && pending "$c" && flux job urgency "$c" 16 && why "$c" > note &&
		grep "submit it again" note && b=$(submit -N1) && started "$b" && booked && cancel_all && free_again && no_faults
}

if test -n "$PART"; then
	part_$PART "$1"
	exit
fi
. "$SHARNESS"

mkdir conf modprobe modprobe/modprobe.d
cp "$T/../etc/modprobe.d/sched-burrow.toml" modprobe/modprobe.d/
cat > conf/burrow.toml << TOML
$(fake_conf 6 4 0)
[modules]
alternatives.sched = "sched-burrow"
alternatives.feasibility = "sched-burrow"
[kvs]
checkpoint-period = "1s"
TOML
# instance PART [ARG] - play a part in an instance with what the one before left
instance() {
	PART=$1 BURROW_UNDER_FLUX=$PWD FLUX_DISABLE_JOB_CLEANUP=1 \
	FLUX_MODULE_PATH_PREPEND=$BUILD/module FLUX_MODPROBE_PATH_APPEND=$PWD/modprobe \
		timeout -k 5 100 flux start -s1 -c conf -Sstatedir="$PWD/state" sh "$T/t3040-sched-restart.t" $2 < /dev/null
}
killed() { instance "$@"; test $? = 137; }
fresh() { rm -rf state && mkdir state; }

test_expect_success 'killed with jobs in their prologs: they hold what they had, others are scheduled' '
	fresh && killed kill && instance after_kill
'
for tenths in 1 5; do
	test_expect_success "killed while jobs come and go, 0.${tenths}s in" '
		killed rush '$tenths' && instance after_rush
	'
done
test_expect_success 'ended in good order: jobs run on under the next' '
	fresh && instance end && instance after_end
'
test_expect_success 'R was written, the alloc event was not: that job is refused, and no other' '
	fresh && instance stale && instance after_stale
'
test_done
