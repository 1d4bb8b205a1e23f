#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='make install puts everything where Flux looks, and rc1 loads it from there'
. "$(dirname "$0")/lib/burrow.sh"

# The instance, below, is this test again: it only looks.
if test -n "$BURROW_UNDER_FLUX"; then
	flux module list | grep "^burrow " || exit 1
	flux exec -q -r 1 flux module list | grep "^burrow " || exit 1
	flux jobtap list | grep burrow.so || exit 1
	flux burrow --version || exit 1
	flux burrow status || exit 1
	flux run -N2 true
	exit
fi
. "$SHARNESS"

if ! test -f "$BUILD/Makefile"; then
	skip_all='not configured'
	test_done
fi
# configure NAME=VALUE... - as far as it comes, away from the build
configure() {
	rm -rf conf && mkdir -p conf/module && cp "$T/../configure" conf && cp -RL "$T/../config" conf &&
		cp "$T/../module/entry.c" conf/module && (cd conf && HOME=$BUILD_HOME ./configure "$@") > configured 2>&1
}
test_expect_success 'configure names the package that it lacks' '
	test_must_fail configure CC=no-such-compiler &&
	grep "no-such-compiler.*Debian: gcc, libc6-dev" configured &&
	test_must_fail configure GO=/bin/false &&
	grep "Debian: golang-go" configured
'
prefix=$(sed -n 's/^prefix = //p' "$BUILD/Makefile")
root=$PWD/root

test_expect_success 'make install, into a directory of its own' '
	HOME=$BUILD_HOME make -s -C "$BUILD" install DESTDIR="$root" &&
	(cd "$root$prefix" && find . -type f -o -type l | sort) > files && cat files
'
test_expect_success 'the object, its links, the command' '
	test -f root/$prefix/lib/flux/modules/burrow.so &&
	test root/$prefix/lib/flux/modules/sched-burrow.so -ef root/$prefix/lib/flux/modules/burrow.so &&
	test root/$prefix/lib/flux/job-manager/plugins/burrow.so -ef root/$prefix/lib/flux/modules/burrow.so &&
	test -x root/$prefix/libexec/flux/cmd/flux-burrow
'
test_expect_success 'the manual pages and examples' '
	for f in man1/flux-burrow.1 man5/flux-config-burrow.5 man7/sched-burrow.7; do
		test -f root/$prefix/share/man/$f || return 1
	done &&
	test -f root/$prefix/share/doc/flux-burrow/examples/50-flux-burrow.rules
'
if command -v flux > /dev/null; then
	test_expect_success 'rc1 loads agent and plugin where the configuration has them' '
		mkdir -p run/conf && cat > run/conf/burrow.toml <<-TOML &&
		[burrow.control]
		method = "command"
		start = ["true"]
		stop = ["true"]
		[job-manager]
		plugins = [ { load = "$root$prefix/lib/flux/job-manager/plugins/burrow.so" } ]
		TOML
		conf=$(find "$root" -name modprobe -path "*flux*" -type d) &&
		PYTHONDONTWRITEBYTECODE=1 BURROW_UNDER_FLUX=$PWD/run FLUX_MODULE_PATH_PREPEND=$root$prefix/lib/flux/modules \
		FLUX_MODPROBE_PATH_APPEND=$conf FLUX_EXEC_PATH_PREPEND=$root$prefix/libexec/flux/cmd \
			timeout -k 5 100 flux start -s2 -c run/conf sh "$T/t0002-install.t" > out 2>&1 < /dev/null ||
		{ cat out; false; }
	'
fi
test_expect_success 'make uninstall takes it all away' '
	HOME=$BUILD_HOME make -s -C "$BUILD" uninstall DESTDIR="$root" &&
	find root -type f -o -type l > left && test_must_be_empty left
'
test_done
