#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='R that can not be used, nodes that are not what they were: jobs live on, nothing is given out twice'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
CONF=$(two_queues)
on_fake_nodes 12 4 2
. "$SHARNESS"

test_expect_success 'start' '
	flux queue start --all && load burrow
'
# bad NAME VALUE - R of a job becomes VALUE in the KVS ("-": it is gone)
bad() {
	test_expect_success "g: R is $1" '
		nohooks && w=$(submit -N1 --exclusive) && a=$(submit -N2 --exclusive) && b=$(submit -N1 --exclusive) &&
		all $w $a $b && test "$(ranks $a)" = "[1-2]" && flux kvs get $(key $a R) > keep && unload &&
		if test "'"$2"'" = - ; then flux kvs unlink $(key $a R); else flux kvs put --raw $(key $a R)='"'$2'"'; fi &&
		mark && load burrow && is hello.recovered 3 && is hello.fenced 1 && test $(warnings) = 1 &&
		alive $w $a $b && c=$(submit -N2 --exclusive) && d=$(submit -N1 --exclusive) && started $c &&
		test "$(ranks $c)" = "[4-5]" && sleep 0.5 && pending $d &&
		flux cancel $a && started $d && test "$(ranks $d)" = 1 && cancel_all && free_again &&
		flux kvs put --raw "$(key $a R)=$(cat keep)"
	'
}
bad missing -
bad empty ""
bad "not JSON" "{]"
bad "of a wrong version" "{\"version\":2,\"execution\":{\"R_lite\":[{\"rank\":\"1-2\",\"children\":{\"core\":\"0-3\"}}],\"starttime\":0,\"expiration\":0,\"nodelist\":[\"n[1-2]\"]}}"
for lite in "[]" "[{\"rank\":\"1-2\",\"children\":{}}]" "[{\"rank\":\"1-2\",\"children\":{\"core\":\"\"}}]" \
	"[{\"rank\":\"1\",\"children\":{\"core\":\"0-3\",\"gpu\":\"0-1\"}},{\"rank\":\"2\",\"children\":{}}]" \
	"[{\"rank\":\"1\",\"children\":{\"core\":\"0\"}}]"; do
	case $lite in
	"[]") hosts= ;;
	*2*) hosts="\"n[1-2]\"" ;;
	*) hosts="\"n1\"" ;;
	esac
	bad "of R_lite $lite" "{\"version\":1,\"execution\":{\"R_lite\":$lite,\"starttime\":0,\"expiration\":0,\"nodelist\":[$hosts]}}"
done
bad "another job's" "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"0-3\"}}],\"starttime\":0,\"expiration\":0,\"nodelist\":[\"n0\"]}}"
test_expect_success 'g: with the hooks R is in memory, whatever the KVS has' '
	hooks && a=$(submit -N2 --exclusive) && started $a && unload && flux kvs unlink $(key $a R) &&
	mark && load burrow && is hello.recovered 1 && is hello.fenced 0 && is nodes.idle 10 && cancel_all && free_again
'
test_expect_success 'g: two jobs on a node without a usable R, and no job-list: the first that ends does not free it' '
	nohooks && a=$(submit -n2) && b=$(submit -n2) && all $a $b && test "$(ranks $a) $(ranks $b)" = "0 0" && unload &&
	flux kvs get $(key $b R) | sed "s/\"version\": *1/\"version\":2/" > other && grep "version\":2" other &&
	flux kvs put --raw "$(key $a R)=" && flux kvs put --raw "$(key $b R)=$(cat other)" &&
	flux module remove job-list && mark && load burrow && flux module load job-list &&
	is hello.recovered 2 && is hello.fenced 2 && is nodes.fenced 1 && test $(warnings) = 2 && flux cancel $b && ended $b &&
	c=$(submit -N1 --exclusive) && started $c && test "$(ranks $c)" = 1 && cancel_all && free_again
'
# inventory PYTHON - the instance becomes what the code makes of execution, x
inventory() {
	flux resource R > now && flux python -c "
import json, sys
R = json.load(open(\"now\"))
x = R[\"execution\"]
$1
json.dump(R, open(\"then\", \"w\"))" && flux resource reload -f then
}
for from in hooks nohooks; do
	test_expect_success "$from: f: a node is renamed, two change places, one is gone" '
		'$from' && flux resource R > first && a=$(submit -N5 --exclusive) && started $a && test "$(ranks $a)" = "[0-4]" &&
		unload && inventory "x[\"nodelist\"] = [\"n0,x1,n[3,2],n[5-11]\"]
x[\"R_lite\"][0][\"rank\"] = \"0-3,5-11\"
x[\"properties\"][\"batch\"] = \"0-3,5\"" &&
		mark && load burrow && is hello.recovered 1 && is hello.fenced 1 && is nodes.fenced 3 &&
		test $(warnings) = 1 && alive $a && b=$(submit -N1) && started $b && test "$(ranks $b)" = 5 &&
		cancel_all && free_again && unload && flux resource reload -f first && load burrow && is nodes.all 12
	'
done
test_expect_success 'f: a core that the node has not got any more' '
	nohooks && a=$(submit -N1 --exclusive) && b=$(submit -n1) && all $a $b && unload && inventory "
x[\"R_lite\"] = [{\"rank\": \"0\", \"children\": {\"core\": \"0-1\"}}, {\"rank\": \"1-11\", \"children\": {\"core\": \"0-3\"}}]" &&
	mark && load burrow && is hello.recovered 2 && is nodes.fenced 1 && alive $a $b && cancel_all && free_again &&
	unload && flux resource reload -f first && load burrow
'
test_expect_success 'nothing was held twice' '
	booked && no_errors
'
test_done
