#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='flux burrow, the command line, on a real Flux'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
FLUX_EXEC_PATH_PREPEND=$BUILD/cmd/flux-burrow${FLUX_EXEC_PATH_PREPEND:+:$FLUX_EXEC_PATH_PREPEND}
export FLUX_EXEC_PATH_PREPEND
under_flux 4
need_dws
. "$SHARNESS"

NO_COLOR=
LC_ALL=C.UTF-8
export LC_ALL
UNIT=nnf-clientmount.service

# as_guest COMMAND... - as if the requests came from another user
as_guest() { FLUX_HANDLE_USERID=9999 FLUX_HANDLE_ROLEMASK=0x2 "$@"; }
# shows FILE RANKS STATE WANTED [JOBS...] - FILE has that row of the table
shows() {
	shows_file=$1 shows_ranks=$2 shows_rest="$UNIT $3 $4"
	shift 4
	sed "s/  */ /g" "$shows_file" | grep -F -e "$shows_ranks $shows_rest $*" && return
	cat "$shows_file"
	return 1
}
all_idle() { flux burrow status > idle 2>&1 && shows idle 0-3 down down -; }

test_expect_success 'flux runs it' '
	flux burrow --version > version && grep "^flux-burrow [0-9]" version &&
	flux burrow --help > help && grep timeline help
'
test_expect_success 'usage errors exit 2 and say what is wrong' '
	test_expect_code 2 flux burrow 2> err && grep "flux-burrow: a command is missing" err &&
	test_expect_code 2 flux burrow nonsense 2> err && grep "nonsense: no such command" err &&
	test_expect_code 2 flux burrow status 1-x 2> err && grep "status: RANKS: idset" err &&
	test_expect_code 2 flux burrow release 2> err && grep "RANKS is missing" err &&
	test_expect_code 2 flux burrow timeline f00 2> err && grep "no job id" err
'
test_expect_success 'without an agent, status says how to load one' '
	test_must_fail flux burrow status 2> err &&
	grep "flux-burrow: status: burrow agent is not loaded on the leader: flux module load burrow" err &&
	test_expect_code 1 flux burrow release 0 2> err &&
	grep "jobtap plugin is not loaded: flux jobtap load burrow.so" err
'
test_expect_success 'outside of an instance it says so' '
	(unset FLUX_URI; export HOME=$PWD; test_expect_code 1 "$BUILD/cmd/flux-burrow/flux-burrow" status 2> err) &&
	cat err && grep "flux-burrow: status: .*FLUX_URI is not set" err &&
	(FLUX_URI=local:///nonexistent/local; test_expect_code 1 flux burrow status 2> err) &&
	grep "no broker answers at FLUX_URI=local:///nonexistent/local" err
'
test_expect_success 'it finds libflux-core by the flux on PATH alone' '
	(unset FLUX_EXEC_PATH; "$BUILD/cmd/flux-burrow/flux-burrow" check > out) && grep "R of the instance" out
'
test "$(dws_kind)" = real && test_set_prereq REAL_DWS
test_expect_success 'load' '
	dws_plugin && load_all && dws_service --check "$DIR"
'
test_expect_success 'idle nodes are in one row, and none stands out' '
	wait_for 10 all_idle && flux burrow status > out &&
	test $(wc -l < out) = 2 && ! grep "[*!]" out
'
test_expect_success 'RANKS limits the table, and takes brackets' '
	flux burrow status 1,3 > out && shows out 1,3 down down - &&
	flux burrow status "[0-2]" > out && shows out 0-2 down down -
'
test_expect_success 'no escape sequences where the output is no terminal' '
	! grep "$(printf "\033")" out
'
test_expect_success '--json is the answer as JSON' '
	flux burrow status --json > out.json &&
	flux python -c "
import json
d = json.load(open(\"out.json\"))
assert d[\"failed\"] == [], d
assert d[\"nodes\"][0][\"ranks\"] == \"0-3\", d
assert d[\"nodes\"][0][\"services\"][0][\"state\"] == \"down\", d
"
'
test_expect_success 'a rank that is not there is listed, and the exit status 1' '
	test_expect_code 1 flux burrow status 0,77 > out 2> err &&
	shows out 0 down down - && grep "^! *77" out && grep "no such rank" out &&
	grep "flux-burrow: status: no answer from 1 of 2 ranks" err
'
test_expect_success 'in the mount window the services are up, for the job' '
	dws_service --never &&
	rabbit -N4 true > id && f58=$(flux job id --to=f58 $(cat id)) &&
	in_mount() { flux burrow status > out && shows out 0-3 up up "mount $f58"; } &&
	wait_for 20 in_mount &&
	flux cancel $(cat id) && ended $(cat id)
'
test_expect_success 'in the run window they are down' '
	dws_service --check "$DIR" &&
	rabbit -N4 "$T/lib/task" 60 > id && f58=$(flux job id --to=f58 $(cat id)) &&
	posted $(cat id) start && flux burrow status > out &&
	shows out 0-3 down down "run $f58"
'
test_expect_success 'the timeline of a job that runs' '
	COLUMNS=100 flux burrow timeline $(cat id) > out && cat out &&
	grep "^rabbit job $(flux job id --to=f58 $(cat id)), .* has run " out &&
	grep "^window mount " out && grep "burrow-prolog" out && grep "dws-setup" out &&
	grep "^tasks .* open" out && grep "dws_environment" out &&
	flux cancel $(cat id) && ended $(cat id)
'
test_expect_success 'a node that fails stands out, with the reason' '
	echo disk on fire > "$DIR/fail.2" &&
	rabbit -N4 true > id && posted $(cat id) exception &&
	differs() { flux burrow status > out && grep -A1 "^\* *2 " out | grep "disk on fire"; } &&
	wait_for 20 differs && cat out &&
	rm -f "$DIR/fail.2" && { flux cancel $(cat id) || :; } && ended $(cat id) &&
	flux resource undrain 2 && wait_for 20 all_idle
'
test_expect_success 'the timeline of a job that is over: text, any form of the id' '
	rabbit -N2 "$T/lib/task" 0.3 > id && ended $(cat id) &&
	flux burrow timeline $(cat id) > out && cat out &&
	for row in "window mount" run unmount "prolog .*" burrow-prolog dws-setup tasks dws-epilog burrow-epilog; do
		grep "$row" out || return 1
	done &&
	! grep open out &&
	for form in dec hex dothex kvs f58; do
		flux burrow timeline $(flux job id --to=$form $(cat id)) > out.$form && test_cmp out out.$form || return 1
	done
'
test_expect_success 'SVG, to a file and to standard output' '
	flux burrow timeline --svg out.svg $(cat id) > out && test_must_be_empty out &&
	flux burrow timeline --svg - $(cat id) > out2.svg && test_cmp out.svg out2.svg &&
	flux python -c "
import xml.dom.minidom
d = xml.dom.minidom.parse(\"out.svg\")
assert d.documentElement.tagName == \"svg\"
assert len(d.getElementsByTagName(\"rect\")) > 8
"
'
test_expect_success 'the eventlog of a file gives the same chart' '
	flux job info $(cat id) eventlog > log &&
	flux burrow timeline $(cat id) > out &&
	flux burrow timeline --eventlog log $(cat id) > out2 && test_cmp out out2 &&
	flux burrow timeline --eventlog - $(cat id) < log > out2 && test_cmp out out2
'
test_expect_success 'a job without a rabbit has a run window' '
	flux submit -N1 true > id && ended $(cat id) && flux burrow timeline $(cat id) > out &&
	grep "^window run" out && ! grep prolog out
'
test_expect_success 'no such job' '
	test_expect_code 1 flux burrow timeline 12345 2> err && grep "flux-burrow: timeline: .*: no such job" err
'
test_expect_success 'nothing to release' '
	flux burrow release 0-3 > out && grep "nothing was kept up on ranks 0-3" out
'
# The dws stub of the tests has no service that could give up.
test_expect_success REAL_DWS 'an unmount that was given up: release lets go of it, rank by rank' '
	dws_service --give-up &&
	rabbit -N2 true > id && f58=$(flux job id --to=f58 $(cat id)) && ended $(cat id) &&
	kept() { flux burrow status > out && grep -F "unmount $f58" out; } &&
	wait_for 10 kept && cat out &&
	flux burrow timeline $(cat id) > out && cat out && grep "unmount .* given up" out &&
	first=$(flux jobs -no "{ranks}" $(cat id) | sed "s/^\[//; s/[-,].*//") &&
	flux burrow release $first > out && cat out &&
	grep "^released ranks $first, kept up since the unmount of job $f58 was given up" out &&
	kept && flux burrow release 0-3 > out && grep "$f58" out && wait_for 10 all_idle
'
test_expect_success 'guests may not' '
	test_expect_code 1 as_guest flux burrow status 2> err && cat err && grep "flux-burrow: status: .*instance owner" err &&
	test_expect_code 1 as_guest flux burrow release 0 2> err && grep "instance owner" err &&
	test_expect_code 1 as_guest flux burrow check 2> err && grep "flux-burrow: check: " err &&
	test_expect_code 1 as_guest flux burrow timeline $(cat id) 2> err && grep "only the job.s user" err
'
test_expect_success 'check of the running instance' '
	flux burrow check > out && cat out &&
	grep "^R of the instance (resource.R): ok: 4 nodes" out &&
	grep "^configuration of the instance: ok: method command; on-failure drain" out
'
test_expect_success 'check of a job, of a bad R and of a bad configuration' '
	flux job info $(cat id) R > R && flux burrow check R > out && grep "^R: ok: [12] node" out &&
	sed "s/\"rank\": *\"[-0-9,]*\"/\"rank\": \"x\"/" R > bad && ! cmp -s R bad &&
	test_expect_code 1 flux burrow check bad > out 2> err && cat out &&
	grep "^bad:1:[0-9]*: error: execution.R_lite\[0\].rank: " out && grep "flux-burrow: check: bad: 1 fault" err &&
	printf "[burrow]\ntolerate = -1\n" > bad.toml &&
	test_expect_code 1 flux burrow check --config bad.toml > out 2> err &&
	grep "bad.toml: error: burrow.tolerate is -1" out &&
	flux burrow check --config "$DIR/conf/burrow.toml"
'
test_expect_success 'jgf of the instance and of a job' '
	flux burrow jgf > all.json && flux burrow jgf | head -c 20 | grep graph &&
	flux burrow jgf R > job.json && flux kvs get resource.R > all.R &&
	flux burrow jgf --inventory all.R --whole R > whole.json &&
	flux python -c "
import json
all = json.load(open(\"all.json\"))[\"graph\"][\"nodes\"]
whole = json.load(open(\"whole.json\"))[\"scheduling\"][\"graph\"][\"nodes\"]
assert len([n for n in all if n[\"metadata\"][\"type\"] == \"node\"]) == 4
assert {n[\"id\"] for n in whole} <= {n[\"id\"] for n in all}
"
'
test_expect_success 'a node without an agent is one without an answer' '
	flux exec -q -r 3 flux module remove burrow &&
	test_expect_code 1 flux burrow status > out 2> err && cat out &&
	grep "^! *3 " out && grep "burrow agent is not loaded" out && shows out 0-2 down down - &&
	flux exec -q -r 3 flux module load "$SO" && wait_for 10 all_idle
'
test_expect_success 'a wait has a limit' '
	broker=$(flux exec -q -r 3 flux getattr broker.pid) &&
	kill -STOP $broker &&
	test_expect_code 1 flux burrow --timeout=1s status > out 2> err; kill -CONT $broker; cat err &&
	grep "burrow.status: no answer in 1s" err
'
test_expect_success 'so has the connection itself' '
	uri=$(flux exec -q -r 3 flux getattr local-uri) && broker=$(flux exec -q -r 3 flux getattr broker.pid) &&
	FLUX_URI=$uri flux burrow status > out && shows out 0-3 down down - &&
	kill -STOP $broker &&
	(FLUX_URI=$uri; test_expect_code 1 "$BUILD/cmd/flux-burrow/flux-burrow" --timeout=1s status 2> err); kill -CONT $broker; cat err &&
	grep "status: the broker: no answer in 1s" err
'
test_expect_success 'nothing is left of it' '
	dws_stop && unload_all && dws_unplug
'
test_done
