#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
#
# demo.sh - the main job, watched
#
# Three jobs on four ranks: a rabbit job, one without a rabbit, and a rabbit
# job that is cancelled in its prolog.  The services are real processes.  In a
# real Flux where there is one, else in the embedded instance.  The report is
# the same program for both, t/demo, and it ends non-zero if a service was up
# while a job's task ran.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
if test -z "$BURROW_DEMO_DIR"; then
    BURROW_DEMO_DIR=$(mktemp -d "${TMPDIR:-/tmp}/burrow-demo-XXXXXX")
    export BURROW_DEMO_DIR
    finish() {
        for f in "$BURROW_DEMO_DIR"/pid.*; do
            test -f "$f" && kill "$(cat "$f")" 2> /dev/null
        done
        rm -rf "$BURROW_DEMO_DIR"
    }
    trap finish EXIT
    trap 'exit 1' INT TERM
    if ! command -v flux > /dev/null; then
        echo "No flux on PATH: this is the embedded instance, 4 ranks in one process."
        cd "$top" && CGO_ENABLED=1 go run ./t/demo embed "$BURROW_DEMO_DIR"
        exit $?
    fi
    echo "This is $(flux --version | sed -n 's/libflux-core:[[:space:]]*/flux-core /p'), an instance of 4 brokers."
    mkdir "$BURROW_DEMO_DIR/conf"
    cat > "$BURROW_DEMO_DIR/conf/demo.toml" << TOML
[burrow.control]
method = "command"
start = ["$here/daemon", "start"]
stop = ["$here/daemon", "stop"]
status = ["$here/daemon", "status"]
TOML
    # To a file: a broker that is left behind would hold a pipe open.
    timeout -k 5 120 flux start -s 4 -c "$BURROW_DEMO_DIR/conf" sh "$0" \
        > "$BURROW_DEMO_DIR/log" 2>&1 < /dev/null || {
        cat "$BURROW_DEMO_DIR/log"
        echo "demo: the instance failed"
        exit 1
    }
    cd "$top" && CGO_ENABLED=1 go run ./t/demo report "$BURROW_DEMO_DIR"
    exit $?
fi

# In the instance
set -e
dir=$BURROW_DEMO_DIR
so=$top/module/burrow.so
dw='["#DW jobdw type=xfs capacity=10GiB name=project1"]'

flux exec -q -r all flux module load "$so"
if flux jobtap load dws-jobtap.so 2> /dev/null; then
    flux python "$here/../lib/dws-service.py" --setup 1.5 --unmount 0.5 > "$dir/dws.log" 2>&1 &
    dws=$!
    echo "flux-coral2's dws plugin, with a stand-in for its service" > "$dir/dws"
    until grep -q ready "$dir/dws.log"; do sleep 0.1; done
elif test -f "$top/t/lib/dws.so" || make -s -C "$top" check-helpers > /dev/null 2>&1 && test -f "$top/t/lib/dws.so"; then
    flux jobtap load "$top/t/lib/dws.so"
    echo "a stand-in for the dws plugin" > "$dir/dws"
else
    # Flux without its headers: the event alone, and no epilog of dws's.
    echo "dws_environment posted by hand" > "$dir/dws"
    byhand=yes
fi
flux jobtap load "$so"

# job NAME ARGS... - submit, and write down its id
job() {
    name=$1
    shift
    flux submit "$@" > "$dir/id.$name"
}
# done NAME - wait for its end, and keep its eventlog and ranks
over() {
    id=$(cat "$dir/id.$1")
    flux job wait-event -q -t 60 "$id" clean
    flux job eventlog --format=json "$id" > "$dir/eventlog.$1"
    flux jobs -n -o '{ranks}' "$id" > "$dir/ranks.$1"
}
job 1-rabbit -N2 --setattr=dw="$dw" --setattr=stub.setup=1.5 "$here/task" 1
if test -n "$byhand"; then
    sleep 0.5
    flux python -c 'import flux, sys
from flux.job import JobID
flux.Flux().rpc("job-manager.post-event.post",
                {"id": int(JobID(sys.argv[1])), "name": "dws_environment"}).get()' "$(cat "$dir/id.1-rabbit")"
fi
over 1-rabbit
job 2-other -N2 "$here/task" 1
over 2-other
job 3-cancelled -N2 --setattr=dw="$dw" --setattr=stub.setup=1.5 "$here/task" 1
flux job wait-event -q -t 30 -m description=burrow-prolog "$(cat "$dir/id.3-cancelled")" prolog-start
sleep 0.3
flux cancel "$(cat "$dir/id.3-cancelled")"
over 3-cancelled

flux jobtap remove burrow.so
flux exec -q -r all flux module remove burrow
test -z "$dws" || kill "$dws"
