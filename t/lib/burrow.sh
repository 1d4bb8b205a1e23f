# SPDX-License-Identifier: LGPL-3.0-or-later
#
# burrow.sh - what the sharness tests share; read before sharness.sh
#
# A test that needs a real Flux calls under_flux, which runs the test again as
# the initial program of an instance.  Services are files: t/lib/service makes
# and removes one for each rank, and writes down when.

T=$(cd "$(dirname "$0")" && pwd)
BUILD=${BURROW_BUILD_DIR:-$(cd "$T/.." && pwd)}
SO=$BUILD/module/burrow.so
SCHED_SO=$BUILD/module/sched-burrow.so
: "${SHARNESS:=/usr/share/sharness/sharness.sh}"
command -v flux > /dev/null || PATH=$PATH:/opt/flux/bin
# sharness makes HOME its own; what is built in a test needs the caches there.
BUILD_HOME=${BUILD_HOME:-$HOME}
export PATH SO SCHED_SO T BUILD BUILD_HOME

# A test without Flux ends here, with the reason.
need_flux() {
    command -v flux > /dev/null && return
    echo "1..0 # SKIP no flux on PATH nor in /opt/flux/bin"
    exit 0
}

# under_flux SIZE [OPTION...] - run this test in an instance of SIZE brokers,
# with the configuration that $CONF holds (TOML)
under_flux() {
    need_flux
    test -n "$BURROW_UNDER_FLUX" && return
    size=$1
    shift
    BURROW_UNDER_FLUX=$(mktemp -d "${TMPDIR:-/tmp}/burrow-test-XXXXXX")
    export BURROW_UNDER_FLUX
    trap 'rm -rf "$BURROW_UNDER_FLUX"' EXIT
    mkdir "$BURROW_UNDER_FLUX/conf"
    printf '%s\n' "$CONF" > "$BURROW_UNDER_FLUX/conf/burrow.toml"
    # The scheduler that comes with flux-core, whatever else is installed
    test -n "$SCHED_CONF" || SCHED_CONF='[modules]
alternatives.sched = "sched-simple"
alternatives.feasibility = "sched-simple"'
    printf '%s\n' "$SCHED_CONF" > "$BURROW_UNDER_FLUX/conf/sched.toml"
    # No exec: the trap is to clean up.
    timeout -k 5 "${LIMIT:-200}" flux start -s "$size" -c "$BURROW_UNDER_FLUX/conf" "$@" \
        sh "$T/$(basename "$0")" -v < /dev/null
    exit $?
}

# Configuration with services by t/lib/service
service_conf() {
    cat << TOML
[burrow.control]
method = "command"
start = ["$T/lib/service", "start"]
stop = ["$T/lib/service", "stop"]
status = ["$T/lib/service", "status"]
TOML
}

# Where t/lib/service keeps its files
DIR=$BURROW_UNDER_FLUX

# each COMMAND... - on each rank
each() { flux exec -q -r all "$@"; }

load_all() { each flux module load "$SO" && flux jobtap load "$SO"; }
unload_all() {
    flux jobtap remove burrow.so
    each flux module remove burrow
}

# Which dws plugin: the real one where it is installed, else the test's own
dws_kind() {
    if flux jobtap load dws-jobtap.so 2> /dev/null; then
        flux jobtap remove dws-jobtap.so
        echo real
    else
        echo stub
    fi
}

# A test that needs either ends here where there is none.
need_dws() {
    test "$(dws_kind)" = real || test -f "$BUILD/t/lib/dws.so" && return
    echo "1..0 # SKIP no dws-jobtap.so, and no headers of flux-core to build a stand-in with"
    exit 0
}

# dws_plugin - load it; dws_service ARGS - have its service answer.  The
# stand-in has no service: what ARGS ask for is in the jobs' attributes.
dws_plugin() {
    if test "$(dws_kind)" = real; then
        flux jobtap load dws-jobtap.so
    else
        flux jobtap load "$BUILD/t/lib/dws.so"
    fi
}
dws_unplug() { flux jobtap remove dws-jobtap.so 2> /dev/null || flux jobtap remove dws.so; }
stub_attributes() {
    while test $# -gt 0; do
        case $1 in
        --setup | --unmount) echo "--setattr=stub.${1#--}=$2" && shift ;;
        --never) echo "--setattr=stub.setup=-1" ;;
        --give-up) echo "--setattr=stub.status=1" ;;
        esac
        shift
    done
}
dws_service() {
    dws_stop
    stub_attributes "$@" > "$DIR/stub"
    : > "$DIR/dws.log"
    flux python "$T/lib/dws-service.py" "$@" > "$DIR/dws.log" 2>&1 &
    echo $! > "$DIR/dws.pid"
    wait_for 10 grep -q ready "$DIR/dws.log"
}
dws_stop() {
    test -f "$DIR/dws.pid" || return 0
    kill "$(cat "$DIR/dws.pid")" 2> /dev/null
    wait "$(cat "$DIR/dws.pid")" 2> /dev/null
    rm -f "$DIR/dws.pid"
}

# wait_for SECONDS COMMAND... - until it succeeds
wait_for() {
    left=$(($1 * 10))
    shift
    until "$@"; do
        left=$((left - 1))
        test $left -gt 0 || return 1
        sleep 0.1
    done
}

DW='["#DW jobdw type=xfs capacity=10GiB name=project1"]'
# rabbit ARGS... - submit a rabbit job
rabbit() { flux submit --setattr=dw="$DW" $(cat "$DIR/stub" 2> /dev/null) "$@"; }

# ended JOBID - wait until it is inactive
ended() { flux job wait-event -q -t ${ENDED:-60} "$1" clean || { situation "$1"; return 1; }; }
posted() { flux job wait-event -q -t 30 "$@" || { situation "$(echo "$*" | grep -o 'f[0-9A-Za-z]* ' | tail -n 1)"; return 1; }; }

# situation JOBID - what may tell why it is not as far as a test expects
situation() {
    flux job eventlog $1
    flux jobs
    flux resource list
    flux resource drain
    flux jobtap query burrow.so
    flux dmesg | tail -n 15
} 2>&1

# events JOBID - one event a line: NAME[:DESCRIPTION][=STATUS]
events() {
    flux job eventlog --format=json "$1" | flux python -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    c = e.get("context", {})
    print(e["name"] + (":" + c["description"] if "description" in c else "")
          + ("=%d" % c["status"] if "status" in c else "")
          + (":" + c["type"] if "type" in c else ""))'
}
# before JOBID A B - event A is there, and before event B
before() {
    events "$1" > "$DIR/events"
    a=$(grep -n "^$2" "$DIR/events" | head -n 1 | cut -d: -f1)
    b=$(grep -n "^$3" "$DIR/events" | head -n 1 | cut -d: -f1)
    test -n "$a" && test -n "$b" && test "$a" -lt "$b" && return
    cat "$DIR/events"
    return 1
}
# balanced JOBID - as many holds finished as started, by description
balanced() {
    events "$1" | sed -n 's/^\(prolog\|epilog\)-start:\([^=]*\).*/\1 \2/p' | sort > "$DIR/started"
    events "$1" | sed -n 's/^\(prolog\|epilog\)-finish:\([^=]*\).*/\1 \2/p' | sort > "$DIR/finished"
    diff "$DIR/started" "$DIR/finished"
}
any_up() { ls "$DIR"/up.* > /dev/null 2>&1; }
all_down() { ! any_up; }
changes() { cat "$DIR/changes" 2> /dev/null | wc -l; }
