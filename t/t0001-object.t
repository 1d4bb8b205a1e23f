#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='burrow.so exports its entry points and nothing else'
. "$(dirname "$0")/lib/burrow.sh"
. "$SHARNESS"

: "${NM:=nm}"

test_expect_success 'the exports are the two entry points' '
	$NM -D --defined-only "$SO" | awk "{print \$3}" | sort > exports &&
	printf "flux_plugin_init\nmod_main\n" > expected &&
	test_cmp expected exports
'
test_expect_success 'each symbol of Flux that it wants is declared in cgo/abi/' '
	$NM -D --undefined-only "$SO" | awk "{print \$NF}" | grep ^flux_ | sort > wanted &&
	test -s wanted &&
	sed -n "s/.*\(flux_[a-z0-9_]*\) (.*/\1/p" "$T/../cgo/abi/flux.h" | sort -u > declared &&
	comm -23 wanted declared > undeclared &&
	test_must_be_empty undeclared
'
test_expect_success 'what it declares and never calls is not there' '
	comm -13 wanted declared > unused &&
	test_must_be_empty unused
'
test_expect_success 'the jobtap functions are weak, and only they' '
	$NM -D "$SO" | awk "\$(NF-1) == \"w\" {print \$NF}" | grep ^flux_ | sort > weak &&
	grep ^flux_jobtap_ wanted > jobtap &&
	test_cmp jobtap weak
'
test_expect_success 'the scheduler is a link to the same file' '
	test "$(readlink "$SCHED_SO")" = burrow.so
'
test_expect_success 'Flux is not linked in' '
	! ldd "$SO" | grep flux
'
test_expect_success 'without the object no child is lost' '
	"$BUILD/t/lib/children" - 200
'
test_expect_success 'with it none of 1000 is: SIGCHLD stays with the program' '
	"$BUILD/t/lib/children" "$SO" 1000
'
if command -v flux > /dev/null; then
	lib=$(dirname "$(command -v flux)")/../lib
	test_expect_success 'the installed Flux has each of the symbols' '
		cat $(find "$lib" -name "libflux-core.so.*" -type f) > /dev/null &&
		$NM -D --defined-only $(find "$lib" -name "libflux-core.so.*" -type f) |
			awk "{print \$3}" | sed "s/@.*//" | sort > has &&
		$NM -D --defined-only $(find "$lib" -name job-manager.so -type f) |
			awk "{print \$3}" | sort > jm &&
		sort -u has jm > all &&
		comm -23 wanted all > lacking &&
		test_must_be_empty lacking
	'
fi
test_done
