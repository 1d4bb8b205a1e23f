#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='sched-burrow follows [sched-burrow] of the configuration, without a restart'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF=$(two_queues)
on_fake_nodes 8 4 0
. "$SHARNESS"

# configure < TOML - the configuration of the instance with this as well, by
# flux config reload
configure() {
	cat > "$DIR/conf/zz-sched.toml" && flux config reload 2> err || { cat err; return 1; }
}
# refused TEXT < TOML - the reload fails, its message has TEXT, and what was
# before is what holds
refused() {
	flux module stats --parse=policy sched-burrow > before && flux config get > conf.before &&
	cp "$DIR/conf/zz-sched.toml" good.toml && cat > "$DIR/conf/zz-sched.toml" &&
	test_must_fail flux config reload 2> err && cat err && grep -F -e "$1" err &&
	flux module stats --parse=policy sched-burrow > after && flux config get > conf.after &&
	diff before after && diff conf.before conf.after && cp good.toml "$DIR/conf/zz-sched.toml"
}

# whole PATH WHAT - node_exclusive of all or of a queue; a list has lines
whole() { test "$(stat "$1" | tr -d ' \n')" = "$2"; }

test_expect_success 'queues are started; without a table the defaults hold' '
	flux queue start --all && load burrow && is policy fifo && is match first && is reservation_depth 1 &&
	is node_exclusive false && is queue_depth 0 && is writer rv1exec && is queues "{}"
'
test_expect_success 'a reload is followed, per queue too' '
	is count.alloc 0 && a=$(submit -N1) && started $a &&
	configure <<-TOML &&
	[sched-burrow]
	policy = "conservative"
	match = "worst"
	node-exclusive = ["big"]
	writer = "rv1"
	[sched-burrow.queues.debug]
	policy = "easy"
	reservation-depth = 4
	node-exclusive = true
	[sched-burrow.queues.batch]
	reservation-depth = 0
	TOML
	is policy conservative && is match worst && is reservation_depth all && is writer rv1 &&
	whole node_exclusive "[big]" && is queues.debug.policy easy && is queues.debug.reservation_depth 4 &&
	is queues.debug.node_exclusive true && is queues.batch.policy conservative &&
	is queues.batch.reservation_depth 0 && whole queues.batch.node_exclusive "[big]" &&
	is count.alloc 1 && alive $a
'
test_expect_success 'the new form of R is that of jobs from then on' '
	b=$(submit -N1 -t 1h) && started $b && flux job info $b R | grep graph &&
	test_must_fail sh -c "flux job info $a R | grep graph"
'
for bad in \
	'policy = "lifo"|sched-burrow.policy: "lifo" is none of fifo, easy, conservative' \
	'match = 1|sched-burrow.match: 1 is none of first, last, best, worst' \
	'reservation-depth = -1|sched-burrow.reservation-depth: -1 is neither' \
	'node-exclusive = "big"|sched-burrow.node-exclusive: "big" is none of true, false, a list of properties' \
	'queue-depth = 0|sched-burrow.queue-depth: 0 is neither' \
	'writer = "jgf"|sched-burrow.writer: "jgf" is none of rv1exec, rv1' \
	'log-level = "loud"|sched-burrow.log-level: "loud" is none of' \
	'polcy = "easy"|sched-burrow.polcy: unknown key: there are' \
	'queues.debug.policy = "lifo"|sched-burrow.queues.debug.policy: "lifo" is none of fifo, easy, conservative' \
	'queues.debug.match = "best"|sched-burrow.queues.debug.match: unknown key: there are' \
	'queues.nosuch.policy = "easy"|sched-burrow.queues.nosuch: there is no such queue: [queues] names batch, debug'; do
	test_expect_success "refused, with its name, and all is as before: ${bad%%|*}" '
		printf "[sched-burrow]\n%s\n" "${bad%%|*}" |
		refused "${bad#*|}" && is policy conservative && is queues.debug.policy easy
	'
done
test_expect_success 'the file is as it was: a reload changes nothing' '
	flux config reload && is policy conservative
'
# asked - the policies that the scheduler went by since mark
asked() { echo $(flux dmesg | sed -n "s/.* configuration: policy=\([^ ]*\) .*/\1/p"); }
# another_refuses - a reload that the ingest module refuses
another_refuses() {
	mark && printf "%s\n" "[sched-burrow]" "policy = \"easy\"" "[ingest]" "batch-count = \"no number\"" | refused ingest
}
# Which is asked first goes by random names that modules get when loaded.
test_expect_success 'another part of Flux refuses the same configuration: the one before is back' '
	another_refuses && n=0 && while test -z "$(asked)" && test $n -lt 30; do
		n=$((n + 1)) && load burrow && another_refuses || return 1
	done &&
	test "$(asked)" = "easy conservative" && is policy conservative && is queues.debug.policy easy
'
test_expect_success 'a reload with no table brings the defaults back' '
	configure < /dev/null && is policy fifo && is match first && is writer rv1exec && is queues "{}" && cancel_all && free_again
'
test_expect_success 'a new policy is gone by at once' '
	a=$(submit -N2 --exclusive -t 1h) && b=$(submit -N4 --exclusive -t 1h) && c=$(submit -N1 --exclusive -t 1m) &&
	started $a && sleep 1.5 && pending $b && pending $c &&
	echo "sched-burrow.policy = \"easy\"" | configure && started $c && pending $b && cancel_all && free_again
'
open() { flux python -c 'import flux; print(flux.Flux().rpc("job-manager.alloc-query").get()["alloc_pending"])'; }
opens() { test "$(open)" = "$1" || { echo "$(open) requests are open, want $1"; return 1; }; }
test_expect_success 'queue-depth: the job manager sends more, and after a lower one no more before there are fewer' '
	echo "sched-burrow.queue-depth = 2" | configure && is queue_depth 2 &&
	a=$(submit -N4 --exclusive) && started $a && ids=$(flux submit $MOCK --cc=1-8 -N4 --exclusive true) && set -- $ids &&
	wait_for 10 is pending 2 && sleep 0.5 && is pending 2 && opens 2 &&
	echo "sched-burrow.queue-depth = 4" | configure && wait_for 10 is pending 4 && opens 4 &&
	echo "sched-burrow.queue-depth = \"unlimited\"" | configure && wait_for 10 is pending 8 && opens 8 &&
	echo "sched-burrow.queue-depth = 3" | configure && sleep 0.5 && is pending 8 && opens 8 &&
	cancel $4 $5 $6 $7 $8 && is pending 3 && b=$(submit -N4 --exclusive) && sleep 0.5 && is pending 3 && opens 3 &&
	cancel $3 && wait_for 10 is pending 3 && cancel $a && started $1 && pending $2 && cancel_all && free_again
'
test_expect_success 'the scheduler goes on to be told of cancels and frees, and is asked anew after its end' '
	echo "sched-burrow.queue-depth = 7" | configure && a=$(submit -N4 --exclusive) && started $a && b=$(submit -N4 --exclusive) &&
	wait_for 10 is pending 1 && reload && is hello.recovered 1 && wait_for 10 is pending 1 && cancel $a && started $b &&
	cancel_all && free_again
'
test_expect_success 'arguments win, at load and on reload, but not over what a queue has of its own' '
	printf "%s\n" "[sched-burrow]" "policy = \"conservative\"" "match = \"best\"" "[sched-burrow.queues.debug]" "policy = \"fifo\"" | configure &&
	load burrow policy=easy node-exclusive=big,small && is policy easy && is match best && is queues.debug.policy fifo &&
	whole node_exclusive "[big,small]" &&
	printf "%s\n" "[sched-burrow]" "policy = \"conservative\"" "node-exclusive = true" "[sched-burrow.queues.debug]" "node-exclusive = false" | configure &&
	is policy easy && is match first && whole node_exclusive "[big,small]" && is queues.debug.node_exclusive false && is queues.debug.policy easy
'
test_expect_success 'a table that is wrong refuses the load' '
	unload && echo "sched-burrow.policy = \"lifo\"" | configure && mark &&
	test_must_fail flux module load --name=sched-burrow "$SO" 2> err && cat err && flux dmesg > log &&
	grep "sched-burrow.policy: \"lifo\" is none of fifo" log && mark
'
test_expect_success 'as a process of its own it reads and follows the table too' '
	echo "sched-burrow.policy = \"easy\"" | configure && load_exec && wait_for 20 is policy easy &&
	echo "sched-burrow.policy = \"conservative\"" | configure && is policy conservative &&
	echo "sched-burrow.policy = \"lifo\"" | refused "sched-burrow.policy" && is policy conservative
'
test_expect_success 'nothing was held twice' '
	booked && no_errors
'
test_expect_success 'end' 'configure < /dev/null && load simple'
test_done
