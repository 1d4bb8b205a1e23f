# SPDX-License-Identifier: LGPL-3.0-or-later
#
# sched.sh - what the scheduler's tests share; read after burrow.sh
#
# Most run on fake nodes with mock execution: submit gives a job that needs no
# process and lasts until it is cancelled.

CONF=
LIMIT=280

# on_fake_nodes NODES CORES GPUS [OPTION...] - run this test in an instance of
# fake nodes of so many cores and gpus each, with more configuration in $CONF
on_fake_nodes() {
    CONF="$(fake_conf "$1" "$2" "$3")
$CONF"
    shift 3
    under_flux 1 "$@"
}
# two_queues - configuration: the first half of the fake nodes is queue batch,
# the second is queue debug.  It goes first, for a key of fake-resources.
two_queues() {
    cat << TOML
amend-r = "$T/lib/amend.py"
[queues.batch]
requires = ["batch"]
[queues.debug]
requires = ["debug"]
[policy.jobspec.defaults.system]
queue = "batch"
TOML
}
# fake_conf NODES CORES GPUS - configuration of an instance of fake nodes
fake_conf() {
    cat << TOML
[fake-resources]
nnodes = $1
cores-per-node = $2
gpus-per-node = $3
host-prefix = "n"
TOML
}

# load NAME [ARG...] - make NAME the scheduler: burrow, simple or fluxion
load() {
    unload
    name=$1
    shift
    case $name in
    burrow)
        flux module load --name=sched-burrow "$SO" log-level=debug "$@" &&
            flux module stats sched-burrow > "$DIR/stats"
        ;;
    simple)
        flux module load sched-simple "$@" && flux module stats sched-simple > "$DIR/stats"
        ;;
    fluxion)
        flux module load sched-fluxion-resource && flux module load sched-fluxion-qmanager "$@" &&
            flux module stats sched-fluxion-qmanager > "$DIR/stats"
        ;;
    esac
}
unload() {
    for m in sched-burrow sched-simple sched-fluxion-qmanager sched-fluxion-feasibility sched-fluxion-resource; do
        flux module remove $m 2> /dev/null
    done
    return 0
}
have_fluxion() {
    find $(echo "$FLUX_MODULE_PATH" | tr : ' ') -name sched-fluxion-qmanager.so 2> /dev/null | grep -q .
}

# stat PATH - one figure of the scheduler's report, such as hello.recovered
stat() { flux module stats --parse="$1" sched-burrow | tr -d '"'; }
is() { test "$(stat "$1")" = "$2" || { echo "$1 is $(stat "$1"), want $2"; return 1; }; }

MOCK=--setattr=exec.test.run_duration=24h
submit() { flux submit $MOCK "$@" true; }
started() { flux job wait-event -q -t 20 "$1" start; }
# ranks JOBID - as R says
ranks() { flux jobs -no '{ranks}' "$1"; }
# cores JOBID - R in short
cores() { flux job info "$1" R | flux R decode --short; }
pending() { test "$(flux jobs -no '{state}' "$1")" = SCHED; }
key() { echo "$(flux job id --to=kvs "$1").$2"; }
# why JOBID - the note of the exception that ended it
why() { flux job wait-event -t 20 -f json "$1" exception; }
cancel() {
    flux cancel "$@" && for id in "$@"; do ended "$id" || return 1; done
}
cancel_all() { flux cancel --all --quiet; flux queue drain; }
# warnings - of the scheduler since mark
mark() { flux dmesg -C; }
warnings() { flux dmesg | grep -c 'sched-burrow.warning'; }

# no_errors, no_doubts - of the scheduler since mark
no_errors() { ! flux dmesg | grep "sched-burrow.err\|BUG: panic"; }
no_doubts() { no_errors && ! flux dmesg | grep "sched-burrow.warning"; }

# booked - fail if anything was ever held by two jobs at once
booked() { flux python "$T/lib/booked.py" "$@"; }
# free_again - all is free once nothing runs
free_again() {
    flux queue drain && wait_for 10 is allocated 0 && is nodes.fenced 0 &&
        test "$(flux resource list -s free -no '{nnodes}')" = "$(flux resource list -s all -no '{nnodes}')" &&
        is nodes.idle "$(stat nodes.all)"
}

# storm ARG... - reload again and again with these arguments under a random load:
# nothing is held twice, nothing is left, no job is lost.  RELOADS=100 is the
# long one; the seed is printed, SEED= has the same again.
: "${RELOADS:=50}" "${SEED:=$(date +%s)}"
storm() {
    mark && timeout 200 flux python "$T/lib/storm.py" "$SO" "$RELOADS" "$SEED" "$@" &&
        test -z "$(flux jobs -A -no '{id} {state}' -c 0 --filter=pending,running)" &&
        booked && free_again && no_doubts
}

# The hooks give R out of the job manager's memory; without, it is read from
# the KVS.
hooks() { flux jobtap list | grep -q burrow.so || flux jobtap load "$SO"; }
nohooks() { flux jobtap remove burrow.so 2> /dev/null || true; }
# load_exec - as a process of its own; the next reload does not wait for it
load_exec() { flux module load --exec --name=sched-burrow "$SO" log-level=debug; }
# gap SIGNAL < IDS - load it so, and end these jobs between its hello and its
# ready; then the process goes on (CONT), or not (KILL)
gap() { flux python "$T/lib/gap.py" "$SO" "$1"; }
reload() { mark && load burrow "$@"; }
all() { for id in "$@"; do started "$id" || return 1; done; }
alive() { for id in "$@"; do test "$(flux jobs -no '{state}' "$id")" = RUN || return 1; done; }
