#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='burrow.so loads in each role, again and again, and reads its configuration'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
under_flux 2
. "$SHARNESS"

rpc() {
	flux python -c '
import sys, flux
try:
    print(flux.Flux().rpc(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, nodeid=0).get_str())
except OSError as e:
    print(e.errno, e.strerror)
    sys.exit(1)' "$@"
}

test_expect_success 'the agent loads, under any name' '
	flux module load "$SO" &&
	flux module stats burrow > stats &&
	grep sets stats &&
	flux module load --name=mole "$SO" &&
	flux module stats mole &&
	flux module remove mole
'
test_expect_success 'an argument that it does not know refuses the load' '
	test_must_fail flux module load --name=badger "$SO" foo=1
'
test_expect_success 'the plugin loads beside it in the same broker' '
	flux jobtap load "$SO" &&
	flux jobtap query burrow.so | grep windows
'
test_expect_success 'a request that can not be read gets EPROTO with a text' '
	sleep 0.5 && flux module stats burrow | grep "\"sets\":" > before &&
	test_must_fail rpc burrow.set "{}" > err && grep "^71 .*ranks" err &&
	test_must_fail rpc burrow.set "{\"ranks\":\"0\",\"phase\":\"up\",\"id\":1,\"gen\":1}" > err &&
	grep "^71 .*phase" err &&
	test_must_fail rpc burrow.status "{\"ranks\":\"0-\"}" > err && grep "^71" err &&
	test_must_fail rpc job-manager.burrow.wanted "{\"rank\":\"x\"}" > err && grep "^71" err &&
	flux module stats burrow | grep "\"sets\":" > after && test_cmp before after
'
test_expect_success 'the plugin is removed and loaded ten times' '
	for i in $(seq 10); do
		flux jobtap remove burrow.so && flux jobtap load "$SO" || return 1
	done &&
	flux run true
'
test_expect_success 'the module is reloaded ten times' '
	for i in $(seq 10); do flux module reload "$SO" || return 1; done &&
	flux module stats burrow
'
test_expect_success 'the plugin and the module are reloaded while jobs run' '
	flux submit --cc=1-20 -n1 sleep 0.1 > ids &&
	for i in $(seq 5); do
		flux jobtap remove burrow.so && flux jobtap load "$SO" &&
		flux module reload "$SO" || return 1
	done &&
	for id in $(cat ids); do flux job wait-event -t 30 $id clean || return 1; done
'
test_expect_success 'a bad configuration refuses the reload, with the key' '
	cp "$DIR/conf/burrow.toml" good.toml &&
	printf "[burrow]\nservice-timout = \"1s\"\n" > "$DIR/conf/burrow.toml" &&
	test_must_fail flux config reload 2> err &&
	cat err && grep "burrow.service-timout is an unknown key" err &&
	cp good.toml "$DIR/conf/burrow.toml" &&
	flux config reload
'
test_expect_success 'one that another part of the job manager refuses changes nothing' '
	service_conf | sed "1i [burrow]\\ntolerate = 1\\nenable = false" > "$DIR/conf/burrow.toml" &&
	printf "[job-manager.housekeeping]\nrelease-after = \"x\"\n" >> "$DIR/conf/burrow.toml" &&
	test_must_fail flux config reload 2> err && cat err && grep release-after err &&
	wait_for 10 eval "flux dmesg | grep refused.by.another.part" &&
	flux jobtap query burrow.so | grep "\"enabled\":true" &&
	cp good.toml "$DIR/conf/burrow.toml" && flux config reload
'
test_expect_success 'the module is loaded while the configuration is reloaded' '
	for i in $(seq 40); do
		echo "{\"burrow\":{\"tolerate\":$((i % 3))}}" | flux config load || : > conf.failed
	done &
	for i in $(seq 10); do flux module reload "$SO" || return 1; done &&
	wait && ! test -e conf.failed && flux config reload
'
test_expect_success 'and refuses the load' '
	flux jobtap remove burrow.so &&
	flux module remove burrow &&
	printf "[burrow]\ntolerate = -1\n" > "$DIR/conf/burrow.toml" &&
	flux config reload &&
	test_must_fail flux jobtap load "$SO" 2> err && cat err &&
	grep "burrow.tolerate is -1" err &&
	test_must_fail flux module load "$SO" &&
	flux dmesg | grep "burrow.err.*burrow.tolerate is -1" &&
	cp good.toml "$DIR/conf/burrow.toml" &&
	flux config reload
'
test_expect_success 'the agent runs in a process of its own' '
	flux module load --exec "$SO" &&
	flux module stats burrow | grep sets &&
	flux module remove burrow
'
test_expect_success 'no panic was caught' '
	! flux dmesg | grep "BUG: panic"
'
test_done
