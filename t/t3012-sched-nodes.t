#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow on real brokers: partial release, drained and excluded nodes'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF="[job-manager.housekeeping]
command = [\"$T/lib/hold\"]
release-after = \"0\""
under_flux 4
. "$SHARNESS"

hold() { for r in "$@"; do : > "$DIR/hold.$r"; done; }
release() { for r in "$@"; do rm -f "$DIR/hold.$r"; done; }
run() { flux submit -N"$1" --exclusive sleep 300; }

test_expect_success 'start' 'load burrow && is nodes.up 4'
for from in hooks nohooks; do
	test_expect_success "$from: e: housekeeping lets go of two of four nodes, then a reload" '
		'$from' && hold 2 3 && a=$(run 4) && started $a && flux cancel $a &&
		wait_for 20 is nodes.idle 2 && reload && is hello.recovered 1 && is hello.fenced 0 &&
		is nodes.idle 2 && b=$(run 2) && started $b && test "$(ranks $b)" = "[0-1]" &&
		c=$(run 2) && sleep 0.5 && pending $c && release 2 3 && started $c && cancel_all && free_again
	'
	test_expect_success "$from: e: more of it is let go while no scheduler is loaded" '
		'$from' && hold 1 2 3 && a=$(run 4) && started $a && flux cancel $a &&
		wait_for 20 is nodes.idle 1 && unload && release 1 2 && sleep 1 && mark && load burrow &&
		is hello.recovered 1 && is nodes.idle 3 && release 3 && wait_for 20 is allocated 0 && free_again
	'
done
test_expect_success 'drained nodes are given to nobody' '
	flux resource drain 0-1 test && wait_for 10 is nodes.up 2 && a=$(run 2) && b=$(run 1) &&
	started $a && test "$(ranks $a)" = "[2-3]" && sleep 0.5 && pending $b &&
	flux resource undrain 0 && started $b && test "$(ranks $b)" = 0 && flux resource undrain 1 && cancel_all && free_again
'
for from in hooks nohooks; do
	test_expect_success "$from: f: a job on a drained node" '
		'$from' && a=$(run 2) && started $a && flux resource drain 1 test && reload && is hello.recovered 1 &&
		is hello.fenced 0 && test $(warnings) = 0 && is nodes.up 3 && is nodes.idle 2 && alive $a &&
		flux cancel $a && flux resource undrain 1 && wait_for 10 is nodes.up 4 && free_again
	'
done
test_expect_success 'f: a job on a node that is excluded then' '
	a=$(run 2) && started $a && test "$(ranks $a)" = "[0-1]" && unload &&
	flux config get > conf.json && flux python -c "
import json
c = json.load(open(\"conf.json\"))
c.setdefault(\"resource\", {})[\"exclude\"] = \"1\"
json.dump(c, open(\"exclude.json\", \"w\"))" && flux config load exclude.json && flux module reload resource && mark && load burrow &&
	is nodes.all 3 && is hello.recovered 1 && test $(warnings) = 1 && alive $a && wait_for 20 is nodes.idle 2 &&
	b=$(run 2) && started $b && test "$(ranks $b)" = "[2-3]" && cancel_all && free_again &&
	unload && flux config load conf.json && flux module reload resource && load burrow && is nodes.all 4
'
test_expect_success 'real jobs run, one after the other and side by side' '
	flux run -N4 hostname && flux submit --cc=1-20 -n1 true > ids && for id in $(cat ids); do ended $id || return 1; done && free_again
'
test_expect_success 'nothing was held twice' '
	booked && no_errors
'
test_expect_success 'end' 'load simple'
test_done
