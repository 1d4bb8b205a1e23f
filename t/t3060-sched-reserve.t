#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='advance reservations: made, listed, removed, and kept'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
FLUX_EXEC_PATH_PREPEND=$BUILD/cmd/flux-burrow${FLUX_EXEC_PATH_PREPEND:+:$FLUX_EXEC_PATH_PREPEND}
export FLUX_EXEC_PATH_PREPEND
CONF="$(two_queues)"
on_fake_nodes 8 4 0
. "$SHARNESS"

LC_ALL=C.UTF-8
export LC_ALL
KEY=burrow.reservations

reserve() { flux burrow reserve "$@"; }
# shows NAME STATE RANKS - the list has that row
shows() {
	reserve list > list && sed "s/  */ /g" list > short &&
	grep -e "^$1 $2 20[-0-9]* [0-9:]* 2[-0-9]* [0-9:]* $3 " short || { cat list; return 1; }
}
# refused STATUS TEXT ARG... - reserve ARG... fails with that status and text
refused() {
	refused_status=$1 refused_text=$2
	shift 2
	test_expect_code $refused_status flux burrow reserve "$@" 2> err
	cat err
	grep -e "^flux-burrow: reserve.*$refused_text" err
}
as_guest() { FLUX_HANDLE_USERID=9999 FLUX_HANDLE_ROLEMASK=0x2 "$@"; }
in_kvs() { test "$(flux kvs get $KEY | flux python -c 'import json, sys
print(*[r["name"] for r in json.load(sys.stdin)["reservations"]])')" = "$1"; }

test_expect_success 'with another scheduler it says so' '
	flux queue start --all && refused 1 "the scheduler is not sched-burrow" list
'
test_expect_success 'there is none at first, and nothing in the KVS' '
	load burrow && reserve list > list && test $(wc -l < list) = 1 &&
	test_must_fail flux kvs get $KEY
'
test_expect_success 'hosts, ranks, a property, a constraint' '
	reserve add maint --nodes "n[0-1]" --start "2099-01-02 03:04" --duration 4h --reason "new fans" > out &&
	cat out && grep "^reserved ranks 0-1 (n\[0-1\]) from 2099-01-02 03:04:00 to 2099-01-02 07:04:00$" out &&
	reserve add team --ranks "[2-3]" --start +2h --duration 1d --users root,1234 &&
	reserve add big --requires big --start +30d --duration 60 &&
	reserve add some --requires "{\"and\":[{\"properties\":[\"debug\"]},{\"not\":[{\"ranks\":[\"4\"]}]}]}" \
		--start 2098-01-01T00:00:00Z --duration 1.5h &&
	shows maint waiting 0-1 && shows team waiting 2-3 && shows some waiting 5-7 && shows big waiting "[0-9-]*" &&
	grep "^team .* root,1234 - -$" short && grep "^maint .* n\[0-1\] - - new fans$" short &&
	in_kvs "team big some maint"
'
test_expect_success '--json is the answer as JSON' '
	reserve list --json > json && flux python -c "
import json, time
d = {r[\"name\"]: r for r in json.load(open(\"json\"))[\"reservations\"]}
assert d[\"maint\"][\"nodes\"] == \"n[0-1]\" and d[\"maint\"][\"users\"] == [], d
assert d[\"maint\"][\"end\"] - d[\"maint\"][\"start\"] == 4 * 3600, d
assert d[\"team\"][\"users\"] == [0, 1234] and d[\"team\"][\"state\"] == \"waiting\", d
assert abs(d[\"team\"][\"start\"] - time.time() - 7200) < 60, d
assert d[\"big\"][\"constraint\"] == {\"properties\": [\"big\"]}, d
"
'
test_expect_success 'what can not be is refused, in words' '
	refused 1 "name: there is a reservation maint, from 2099-01-02T03:04:00" add maint --ranks 7 --start now --duration 1h &&
	refused 1 "rank 3 has the reservation team from " add x --ranks 3-4 --start +1h --duration 2h &&
	refused 1 "there is no host n9" add x --nodes n9 --start now --duration 1h &&
	refused 1 "there is no rank 8" add x --ranks 7-8 --start now --duration 1h &&
	refused 1 "no node matches" add x --requires nosuch --start now --duration 1h &&
	refused 1 "nodes: hostlist" add x --nodes "n[" --start now --duration 1h &&
	refused 1 "it is over at 2001-01-01T01:00:00" add x --ranks 7 --start "2001-01-01 00:00" --duration 1h &&
	refused 1 "name: .* has .\!" add "x!" --ranks 7 --start now --duration 1h &&
	refused 1 "unknown user nosuchuser" add x --ranks 7 --start now --duration 1h --users nosuchuser &&
	refused 1 "there is no reservation .x" remove x &&
	in_kvs "team big some maint"
'
test_expect_success 'usage errors exit 2' '
	refused 2 "a command is missing" && refused 2 "NAME is missing" add && refused 2 "one of --nodes" add x &&
	refused 2 "start.*it takes now" add x --ranks 7 --start soon --duration 1h &&
	refused 2 "a reservation lasts" add x --ranks 7 --start now --duration 0
'
# raw METHOD PAYLOAD - send that
raw() {
	flux python -c "
import flux, json, sys
try:
    print(json.dumps(flux.Flux().rpc(\"sched-burrow.\" + sys.argv[1], json.loads(sys.argv[2])).get()))
except OSError as e:
    print(e.errno, e.strerror)" "$1" "$2"
}
test_expect_success 'requests are read strictly' '
	raw reserve-add "{\"name\":\"x\",\"nodes\":\"7\",\"start\":0}" > out && cat out && grep "^71 .*duration.* is missing" out &&
	raw reserve-add "{\"name\":\"x\",\"nodes\":\"7\",\"start\":0,\"duration\":4e9,\"colour\":1}" > out && grep "^71 .*colour" out &&
	raw reserve-add "{\"name\":\"x\",\"nodes\":\"7\",\"start\":0,\"duration\":4e9,\"rabbits\":[\"r0\"]}" > out && cat out && grep "^95 rabbits" out &&
	raw reserve-remove "{\"x\":1}" > out && grep "^71 " out
'
test_expect_success 'guests may not' '
	for args in list "remove maint" "add x --ranks 7 --start now --duration 1h"; do
		test_expect_code 1 as_guest flux burrow reserve $args 2> err && grep "only the instance owner may" err || return 1
	done && in_kvs "team big some maint"
'
test_expect_success 'one is removed, and its name and nodes are free' '
	reserve remove team && ! shows team waiting 2-3 && in_kvs "big some maint" &&
	reserve add team --ranks 2 --start now --duration 1h && shows team active 2
'
test_expect_success 'jobs that run past the beginning are listed, and run on' '
	a=$(submit -N1 --exclusive --requires=rank:3 -t 2h) && b=$(submit -N1 --exclusive --requires=rank:1) &&
	c=$(submit -N1 -t 1m --requires=rank:0) && all $a $b $c &&
	reserve add past --ranks 0-1,3 --start +1h --duration 1h > out && cat out && test $(wc -l < out) = 3 &&
	grep "^job $(flux job id --to=f58 $a) on ranks 3 may run until 20" out &&
	grep "^job $(flux job id --to=f58 $b) on ranks 1 has no time limit" out &&
	shows past waiting 0-1,3 && grep "^past .*$(flux job id --to=f58 $a), $(flux job id --to=f58 $b)" short &&
	alive $a $b $c && flux cancel --all --quiet && flux queue drain && reserve remove past
'
same() {
	reserve list > again && test_cmp list again
}
test_expect_success 'they survive reloads, under any arguments' '
	reserve list > list && reload && same && reload policy=easy && same &&
	unload && load_exec && flux module stats sched-burrow > /dev/null && same && reload && same
'
test_expect_success 'and another scheduler in between' '
	flux kvs get $KEY > before && load simple && id=$(submit -N1) && started $id && cancel $id &&
	refused 1 "the scheduler is not sched-burrow" list && reload && same &&
	flux kvs get $KEY > after && test_cmp before after && no_doubts
'
test_expect_success 'what the KVS has of no use is dropped by name, the rest is kept' '
	unload && flux python -c "
import json
d = json.load(open(\"after\"))
d[\"reservations\"].insert(1, {\"name\": \"bad\", \"nodes\": \"7\", \"start\": 5, \"end\": 4})
d[\"reservations\"].append({\"name\": \"gone\", \"nodes\": \"n[6,77]\", \"start\": 1e9, \"end\": 5e9})
print(json.dumps(d))" > mixed && flux kvs put $KEY="$(cat mixed)" && reload &&
	flux dmesg > log && grep "reservation bad is dropped: duration" log && grep "reservation gone: not in the instance: n77" log &&
	shows gone active 6 && grep "not in the instance: n77" list && ! grep "^bad" list && shows maint waiting 0-1 &&
	reserve remove gone && in_kvs "team big some maint" && reserve list > list
'
test_expect_success 'a text of no use keeps the module from nothing' '
	unload && flux kvs put --raw $KEY=- < /dev/null && reload && is state ready &&
	flux dmesg | grep "$KEY: can.t be read" && reserve list > none && test $(wc -l < none) = 1 &&
	reserve add new --ranks 1 --start now --duration 1h && in_kvs new
'
test_expect_success 'one that is over is not listed, and its name is free' '
	reserve add brief --ranks 7 --start now --duration 1s && shows brief active 7 &&
	gone() { reserve list > list && ! grep "^brief" list; } && wait_for 10 gone &&
	reserve add brief --ranks 7 --start now --duration 1h && shows brief active 7 &&
	reserve remove brief && reserve remove new && in_kvs ""
'
test_expect_success 'nothing is left' '
	free_again && ! flux dmesg | grep "BUG: panic"
'
test_done
