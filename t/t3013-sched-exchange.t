#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='each scheduler takes running jobs over from each other, where it can'
. "$(dirname "$0")/lib/burrow.sh"
. "$T/lib/sched.sh"
on_fake_nodes 8 4 2
. "$SHARNESS"

have_fluxion && test_set_prereq FLUXION

# change FROM TO - jobs of FROM run on under TO, and nothing of theirs is given
# out again: what is free takes six more whole-node jobs, no seventh
change() {
	load $1 && a=$(submit -N2 --exclusive) && b=$(submit -n1) && all $a $b && load $2 &&
	alive $a $b && submit --cc=1-6 -N1 --exclusive > more && sleep 1 &&
	test $(flux jobs -no "{state}" $(cat more) | grep -c RUN) = 5 && alive $a $b && booked &&
	cancel_all
}
test_expect_success 'simple to burrow' 'change simple burrow && free_again'
test_expect_success 'burrow to simple' 'change burrow simple'
test_expect_success 'burrow to burrow' 'change burrow burrow && free_again'
test_expect_success FLUXION 'fluxion to burrow' '
	change fluxion burrow && free_again && test $(warnings) = 0
'
for from in hooks nohooks; do
	test_expect_success FLUXION "$from: c: R with a scheduling key that Fluxion wrote" '
		'$from' && unload && flux module load sched-fluxion-resource match-format=rv1 && flux module load sched-fluxion-qmanager &&
		a=$(submit -N2 --exclusive) && b=$(submit -n2 -g1) && all $a $b &&
		flux kvs get "$(key $a R)" | grep "\"scheduling\": *{\"graph\"" > key &&
		reload && is hello.recovered 2 && is hello.fenced 0 && test $(warnings) = 0 && alive $a $b && nohooks &&
		c=$(submit -N6 --exclusive) && sleep 0.5 && pending $c && is nodes.idle 5 &&
		flux cancel $a && started $c && booked && cancel_all && free_again
	'
done
# Without a time limit R has no expiration, and Fluxion 0.54 refuses such an R
# of any scheduler when starttime is in the first half of 1,024 seconds: it adds
# starttime to 2^63 - starttime rounded to a double.
test_expect_success FLUXION 'burrow to fluxion: jobs with a time limit run on' '
	load burrow && a=$(submit -N2 --exclusive -t 1h) && b=$(submit -n1 -t 1d) && all $a $b && load fluxion &&
	c=$(submit -N2 --exclusive) && started $c && alive $a $b && booked && cancel_all
'
test_expect_success FLUXION 'burrow to fluxion: with writer=rv1 jobs without one do, too' '
	load burrow writer=rv1 && a=$(submit -N2 --exclusive) && b=$(submit -n1 -c2) && c=$(submit -n1 -g1) && all $a $b $c &&
	flux job info $a R | grep -q cluster0.n1.core3 && load fluxion &&
	d=$(submit -N2 --exclusive) && started $d && alive $a $b $c && booked && cancel $b &&
	load burrow writer=rv1 && alive $a $c $d && is hello.recovered 3 && booked && cancel_all && free_again
'
test_expect_success FLUXION 'fluxion to burrow to simple to burrow' '
	load fluxion && a=$(submit -N2 --exclusive) && started $a && load burrow && b=$(submit -N2 --exclusive) && started $b &&
	load simple && c=$(submit -N2 --exclusive) && started $c && load burrow && d=$(submit -N2 --exclusive) && started $d &&
	alive $a $b $c $d && is hello.recovered 3 && booked && cancel_all && free_again
'
test_expect_success 'end' 'load simple'
test_done
