# SPDX-License-Identifier: LGPL-3.0-or-later
#
# sched.sh - what the scheduler's tests share; read after burrow.sh
#
# Most run on fake nodes with mock execution: submit gives a job that needs no
# process and lasts until it is cancelled.

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

# booked - fail if anything was ever held by two jobs at once
booked() { flux python "$T/lib/booked.py" "$@"; }
# free_again - all is free once nothing runs
free_again() {
    flux queue drain && wait_for 10 is allocated 0 && is nodes.fenced 0 &&
        test "$(flux resource list -s free -no '{nnodes}')" = "$(flux resource list -s all -no '{nnodes}')" &&
        is nodes.idle "$(stat nodes.all)"
}

# The hooks give R out of the job manager's memory; without, it is read from
# the KVS.
hooks() { flux jobtap list | grep -q burrow.so || flux jobtap load "$SO"; }
nohooks() { flux jobtap remove burrow.so 2> /dev/null || true; }
reload() { mark && load burrow "$@"; }
all() { for id in "$@"; do started "$id" || return 1; done; }
alive() { for id in "$@"; do test "$(flux jobs -no '{state}' "$id")" = RUN || return 1; done; }
