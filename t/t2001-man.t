#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
test_description='manual pages: clean roff, and nothing is left out'
. "$(dirname "$0")/lib/burrow.sh"
. "$SHARNESS"
BURROW=$BUILD/cmd/flux-burrow/flux-burrow
DOC=$T/../doc
command -v man > /dev/null && command -v troff > /dev/null && test_set_prereq MAN
command -v mandoc > /dev/null && test_set_prereq MANDOC

test_expect_success MAN 'man has no warnings' '
	for page in "$DOC"/*.[157]; do
		MANWIDTH=80 man --warnings -l "$page" > page 2>> warnings && test -s page || return 1
	done &&
	cat warnings && test_must_be_empty warnings
'
test_expect_success MANDOC 'mandoc has none either' '
	mandoc -Tlint "$DOC"/*.[157] > lint; cat lint; test_must_be_empty lint
'
test_expect_success 'each command and each option is in flux-burrow(1)' '
	sed "s/\\\\-/-/g" "$DOC/flux-burrow.1" > page &&
	for cmd in status release timeline check jgf "reserve add" "reserve list" "reserve remove"; do
		grep -e "^.SS .*$cmd" page &&
		"$BURROW" $cmd --help | grep -o -e "--[a-z]*" | sort -u > options || return 1
		while read -r option; do
			grep -q -e "$option" page || { echo "$cmd $option is missing"; return 1; }
		done < options
	done
'
# What "one of ..." lists for an unknown key are the keys there are.
test_expect_success 'each key of the configuration is in flux-config-burrow(5)' '
	printf "[burrow]\nx = 1\ncontrol.x = 1\n[[burrow.services]]\nx = 1\n" > bad.toml &&
	test_expect_code 1 "$BURROW" check --config bad.toml > faults &&
	sed -n "s/.*one of //p" faults | tr -d "," | tr " " "\n" | sort -u > keys &&
	test $(wc -l < keys) -ge 13 && sed "s/\\\\-/-/g" "$DOC/flux-config-burrow.5" > page &&
	while read -r key; do
		grep -e "^\.B.*$key" -e "^.SS .*$key" page > /dev/null || { echo "$key is missing"; return 1; }
	done < keys
'
test_expect_success 'each service is in the pages' '
	cat "$DOC"/*.7 | sed "s/\\\\-/-/g" > pages &&
	for topic in burrow.set burrow.status burrow.stats-get job-manager.burrow.wanted \
		job-manager.burrow.running-R job-manager.burrow.release sched.alloc feasibility.check \
		sched-burrow.reserve-add sched-burrow.reserve-list sched-burrow.reserve-remove; do
		grep -q -F "$topic" pages || { echo "$topic is missing"; return 1; }
	done
'
test_done
