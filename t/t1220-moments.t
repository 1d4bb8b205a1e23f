#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='a broker killed, an agent or the plugin reloaded, in the worst moment'
. "$(dirname "$0")/lib/burrow.sh"
CONF="[burrow]
service-timeout = \"8s\"
[exec]
kill-timeout = \"18s\"
$(service_conf)"
LIMIT=200
under_flux 4 -Stbon.topo=kary:0 --test-exit-mode=leader
. "$SHARNESS"

# The dws side is played by hand, for its moments.
# With variables, as dws posts it: flux-coral2's shell plugin wants them
environment() { flux post-job-event "$1" dws_environment variables='{}'; }
fine() { balanced "$1" && ! test -e "$DIR/violations"; }
drained() { flux resource drain -no '{ranks} {reason}'; }
slow() { echo "$2" > "$DIR/slow.$1"; }
# mounting ARGS... - a rabbit job whose services are up
mounting() { rabbit "$@" > id && posted -m description=burrow-prolog $(cat id) prolog-start && wait_for 10 all_up; }
all_up() { test -e "$DIR/up.0" && test -e "$DIR/up.1" && test -e "$DIR/up.2" && test -e "$DIR/up.3"; }

test_expect_success 'set up' '
	load_all
'
test_expect_success 'an agent is reloaded while its service goes down: no failure of the node' '
	mounting -N4 "$T/lib/task" && slow 2 3 && environment $(cat id) && sleep 0.5 &&
	flux exec -r 2 flux module reload "$SO" && rm "$DIR/slow.2" &&
	ended $(cat id) && events $(cat id) | grep finish=0 && test -z "$(drained)" && fine $(cat id) &&
	wait_for 10 all_down
'
test_expect_success 'the plugin is reloaded while a cancelled job takes its time to die: no service comes up beside it' '
	mounting -N4 sh -c "trap : TERM; for i in \$(seq 25); do sleep 1; done" && environment $(cat id) &&
	posted $(cat id) start && sleep 1 && flux cancel $(cat id) && posted $(cat id) exception &&
	flux jobtap remove burrow.so && flux jobtap load "$SO" && sleep 12 &&
	! events $(cat id) | grep "^finish" && ! any_up &&
	ended $(cat id) && fine $(cat id) && wait_for 10 all_down
'
test_expect_success 'a broker is killed: the wish that finds it knows at once' '
	mounting -N4 true && pid=$(flux exec -r 3 flux getattr broker.pid) &&
	kill -9 $pid && environment $(cat id) && wait_for 3 eval "drained | grep ^3" && drained > out && cat out &&
	grep "^3 burrow: lost contact" out && ended $(cat id) && balanced $(cat id)
'
test_expect_success 'nothing panicked' '
	flux jobtap remove burrow.so &&
	{ flux exec -q -r 0-2 flux module remove burrow || :; } &&
	! flux dmesg | grep "BUG: panic"
'
test_done
