#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
#
# check.sh - all tests, and a closing line that counts them
#
# Run by make check, which sets GO, CC, NM, FLUX, FLUX_CFLAGS and
# BURROW_BUILD_DIR.  Output of what fails is shown, that of the rest is in
# t/test-results/.  TESTS limits the sharness tests, GOTESTS the Go packages.

cd "$(dirname "$0")/.." || exit 1
out=$PWD/t/test-results
rm -rf "$out" && mkdir -p "$out" || exit 1
: "${GO:=go}" "${CC:=cc}" "${NM:=nm}" "${BURROW_BUILD_DIR:=$PWD}"
export CC NM BURROW_BUILD_DIR
if test -n "$FLUX"; then
    PATH=$(dirname "$FLUX"):$PATH
    export PATH
fi
passed=0 failed=0 skipped=0

# add KIND N
add() { eval "$1=\$((\$$1 + $2))"; }

step() { printf '%s\n' "# $*"; }

# one check with a yes or no: one NAME COMMAND...
one() {
    name=$1
    shift
    if "$@" > "$out/$name.log" 2>&1; then
        add passed 1
    else
        add failed 1
        echo "FAIL $name"
        tail -n 50 "$out/$name.log"
    fi
}

step "source: gofmt, go vet, staticcheck"
fmt() { bad=$(gofmt -l cgo cmd hooks module rv1reader t); echo "$bad"; test -z "$bad"; }
gofmt() { "$(dirname "$("$GO" env GOROOT)")/$(basename "$("$GO" env GOROOT)")/bin/gofmt" "$@"; }
one gofmt fmt
one vet "$GO" vet ./...
static() { "$GO" run honnef.co/go/tools/cmd/staticcheck@v0.8.2 "$@"; }
if static -version > "$out/staticcheck.log" 2>&1; then
    one staticcheck static ./...
else
    add skipped 1
    echo "SKIP staticcheck: it is not here and can't be downloaded"
fi

# failures FILE - what the tests printed that failed, and what no test printed
failures() {
    awk '{
        test = ""
        if (match($0, /"Test":"[^"]*"/)) test = substr($0, RSTART + 8, RLENGTH - 9)
        if (match($0, /"Package":"[^"]*"/)) key = substr($0, RSTART + 11, RLENGTH - 12) " " test
        if ($0 ~ /"Action":"output"/) {
            text = $0; sub(/.*"Output":"/, "", text); sub(/"}$/, "", text)
            if (text !~ /^(=== |ok |PASS|\?)|no test files|coverage:/) said[key] = said[key] text
        }
        if ($0 ~ /"Action":"fail"/) printf "%s\n", said[key]
    }' "$1" | sed 's/\\n/\
/g' | sed 's/\\t/    /g; s/\\"/"/g; s/\\u003c/</g; s/\\u003e/>/g; s/\\u0026/\&/g' | head -n 300
}

step "go test -race"
"$GO" test -race -timeout 20m -json ${GOTESTS:-./...} > "$out/go.json" 2> "$out/go.err"
rc=$?
# Top-level tests only: a subtest's name has a slash.
count() { grep '"Test":"[^/"]*"' "$out/go.json" | grep -c "\"Action\":\"$1\""; }
add passed "$(count pass)"
add skipped "$(count skip)"
bad=$(count fail)
if test $rc -ne 0 && test "$bad" -eq 0; then
    bad=1
fi
add failed "$bad"
if test $rc -ne 0; then
    echo "FAIL go test"
    cat "$out/go.err"
    failures "$out/go.json"
fi
# What was skipped, and the line before, which says why
awk '{
    test = $0; sub(/.*"Test":"/, "", test); sub(/".*/, "", test)
    if ($0 ~ /"Action":"output"/ && $0 ~ /_test\.go:[0-9]+: /) {
        why[test] = $0; sub(/.*"Output":" */, "", why[test]); sub(/(\\n)?"}$/, "", why[test])
    }
    if ($0 ~ /"Action":"skip"/ && $0 ~ /"Test"/ && test !~ /\//) print "SKIP " test ": " why[test]
}' "$out/go.json"

step "fuzzing, a few seconds each"
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' cgo hooks module rv1reader t 2>/dev/null | xargs -n1 dirname | sort -u); do
    for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' "$dir"/*_test.go); do
        one "fuzz-$target" "$GO" test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-2s}" -parallel 2
    done
done

step "sharness"
if ! test -r "${SHARNESS:=/usr/share/sharness/sharness.sh}"; then
    echo "FAIL no $SHARNESS: install sharness"
    add failed 1
else
    export SHARNESS
    for t in ${TESTS:-t/t[0-9]*.t}; do
        name=$(basename "$t" .t)
        # To a file: a broker that is left behind would hold a pipe open.
        (cd t && exec timeout -k 10 "${TEST_TIMEOUT:-300}" sh "./$name.t" -v) > "$out/$name.log" 2>&1 < /dev/null
        rc=$?
        add passed "$(grep -c '^ok [0-9]*' "$out/$name.log")"
        n=$(grep -c '^ok [0-9]* .*# skip\|^ok [0-9]* # skip\|^ok [0-9]*.* # SKIP' "$out/$name.log")
        add passed "-$n"
        add skipped "$n"
        bad=$(grep -c '^not ok' "$out/$name.log")
        if why=$(grep '^1\.\.0 # SKIP' "$out/$name.log"); then
            add skipped 1
            echo "SKIP $name: ${why#1..0 # SKIP }"
        elif test "$rc" -ne 0 && test "$bad" -eq 0; then
            bad=1
            echo "FAIL $name: exit $rc"
            tail -n 40 "$out/$name.log"
        fi
        if test "$bad" -ne 0; then
            grep '^not ok' "$out/$name.log" | sed "s/^/$name: /"
            # The first one: those after it often only follow from it.
            sed '/^not ok/q' "$out/$name.log" | tail -n 60
        fi
        add failed "$bad"
        echo "$name: $(grep -c '^ok' "$out/$name.log") ok, $bad not ok"
    done
fi

echo "$passed passed, $failed failed, $skipped skipped"
test "$failed" -eq 0
