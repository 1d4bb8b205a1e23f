#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='with burrow loaded, short jobs take no longer'
. "$(dirname "$0")/lib/burrow.sh"
CONF=$(service_conf)
under_flux 1
. "$SHARNESS"

# Seconds that 100 short jobs take, the best of three
jobs() {
	for i in 1 2 3; do
		start=$(date +%s.%N)
		flux submit --quiet --cc=1-100 --wait -n1 true > /dev/null || return 1
		awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f\n", b - a }'
	done | sort -n | head -n 1
}

test_expect_success '100 short jobs without it, with it, without it' '
	flux run true &&
	jobs > first &&
	load_all && jobs > with && unload_all &&
	jobs > last &&
	echo "without: $(cat first) s, with: $(cat with) s, without: $(cat last) s"
'
test_expect_success 'with it they take no longer than 1.3 times as without' '
	awk -v a="$(cat first)" -v b="$(cat last)" -v w="$(cat with)" \
		"BEGIN { exit !(w <= 1.3 * (a > b ? a : b)) }"
'
test_done
