# SPDX-License-Identifier: LGPL-3.0-or-later
#
# idle.sh - what the tests of idle nodes share; read after sched.sh
#
# Four brokers of four cores.  Queue batch has them all, queue debug ranks 0-2;
# ranks 1-3 are big.  What stands in the way of a large job is on rank 3.
# POLICIES=fluxion has the same cases of Fluxion (queue-policy=easy).
: "${POLICIES:=fifo easy conservative}"

on_four_brokers() {
    CONF='[resource]
noverify = true
[[resource.config]]
hosts = "n[0-3]"
cores = "0-3"
properties = ["batch"]
[[resource.config]]
hosts = "n[0-2]"
properties = ["debug"]
[[resource.config]]
hosts = "n[1-3]"
properties = ["big"]
[queues.batch]
requires = ["batch"]
[queues.debug]
requires = ["debug"]
[policy.jobspec.defaults.system]
queue = "batch"
'
    under_flux 4 --test-hosts="n[0-3]" -Stbon.topo=kary:0 --test-exit-mode=leader
}
# epilogs - from now on each job has an epilog; after hang_next the next one
# hangs until hang_over
epilogs() {
    cat > "$DIR/conf/epilog.toml" << EOF
[job-manager.epilog]
command = ["sh", "-c", "if mv $DIR/hang $DIR/hangs 2> /dev/null; then while test -e $DIR/hangs; do sleep 0.1; done; fi"]
EOF
    flux config reload && flux jobtap load perilog.so
}
hang_next() { : > "$DIR/hang"; }
hang_over() { rm -f "$DIR/hang" "$DIR/hangs"; }

policy() {
    case $1 in
    fluxion) load fluxion queue-policy=easy ;;
    *) load burrow policy=$1 ;;
    esac
}
# soon ID... - they start without anything else that happens
soon() { for id in "$@"; do flux job wait-event -q -t 5 "$id" start || { situation "$id"; return 1; }; done; }
# waits ID... - they have not started, and do not
waits() {
    sleep 0.7
    for id in "$@"; do pending "$id" || { situation "$id"; return 1; }; done
}
reason() { flux jobs -no '{annotations.sched.reason_pending}' "$1"; }
told() { reason "$1" > "$DIR/reason"; grep -q "$2" "$DIR/reason"; }
# tells ID PATTERN... - its reason has each of these, after a while
tells() {
    id=$1
    shift
    for want in "$@"; do
        wait_for 3 told $id "$want" || { echo "want $want, reason: $(reason $id)"; return 1; }
    done
    cat "$DIR/reason"
}
estimate() { flux jobs -no '{annotations.sched.t_estimate}' "$1"; }
estimated() { test -n "$(estimate "$1")"; }
# estimate_in ID MIN MAX - seconds from now
estimate_in() {
    wait_for 3 estimated $1 || { echo "no estimate of $1"; return 1; }
    now=$(date +%s)
    at=$(estimate $1 | sed 's/\..*//')
    echo "$1: in $((at - now)) s"
    test $((at - now)) -ge $2 && test $((at - now)) -le $3
}
up() { test "$(flux resource list -s up -no '{nnodes}')" = "$1"; }
drain_3() { flux resource drain 3 "$@" && wait_for 10 up 3; }
undrain_3() { flux resource undrain 3 && wait_for 10 up 4; }

# The three obstacles on rank 3, and how each goes away.  A job past its limit is
# taken to last as long again as it is overdue: the small ones are shorter.
obstacle() {
    short=1m
    case $1 in
    drained) drain_3 "fan is broken" ;;
    unlimited) hurdle=$(submit -N1 --exclusive --requires=rank:3) && started $hurdle ;;
    overdue)
        hang_next && hurdle=$(submit -N1 --exclusive --requires=rank:3 -t 1s) &&
            flux job wait-event -q -t 20 $hurdle epilog-start && sleep 8.5 && short=6s
        ;;
    esac
}
gone() {
    case $1 in
    drained) undrain_3 ;;
    unlimited) cancel $hurdle ;;
    overdue) hang_over && ended $hurdle ;;
    esac
}
# line_up FORM - the head and the two small jobs that come after it
line_up() {
    case $1 in
    nodes)
        head=$(submit -N4 --exclusive -t 10m) && one=$(submit -N1 --exclusive -t $short) &&
            two=$(submit -N2 --exclusive -t $short)
        ;;
    queues)
        head=$(submit -N4 --exclusive -t 10m) && one=$(submit -q debug -N1 --exclusive -t $short) &&
            two=$(submit -q debug -N2 --exclusive -t $short)
        ;;
    property)
        head=$(submit -N3 --exclusive --requires=big -t 10m) && one=$(submit -N1 --exclusive --requires=big -t $short) &&
            two=$(submit -N2 --exclusive -t $short)
        ;;
    cores)
        head=$(submit -n16 -t 10m) && one=$(submit -n4 -t $short) && two=$(submit -n8 -t $short)
        ;;
    esac
}
# keeps_back POLICY OBSTACLE FORM - does the head keep the small jobs back?  It
# does by fifo, in its queue, unless it can not run at all.
keeps_back() { test $1 = fifo && test $2 != drained && test $3 != queues; }

# idle POLICY OBSTACLE FORM - the small jobs start on the nodes that are idle,
# and the head when what is in its way is gone
idle() {
    obstacle $2 && line_up $3 || return 1
    if keeps_back $1 $2 $3; then
        waits $head $one $two && gone $2 && soon $head && waits $one $two && cancel $head && soon $one $two
    else
        soon $one $two && waits $head && gone $2 && waits $head && alive $one $two &&
            flux cancel $one $two && soon $head
    fi
}
# clean_up - whatever a case left behind
clean_up() {
    hang_over
    flux resource undrain 3 2> /dev/null
    cancel_all && wait_for 10 up 4
}
