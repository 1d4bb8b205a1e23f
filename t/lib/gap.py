# SPDX-License-Identifier: LGPL-3.0-or-later
"""gap.py - end jobs between a scheduler's hello and its ready

usage: gap.py PATH CONT|KILL < IDS

Loads sched-burrow from PATH as a process and lets it run for a moment at a
time (SIGCONT, SIGSTOP) until the job manager has logged its hello.  The jobs
are cancelled and gone before it goes on, or is killed.  Exits 1 if it was ready
by then.
"""

import glob
import os
import signal
import sys
import time

import flux
import flux.job

SLICE = 0.001  # less than the way from the answer to hello to ready takes


def child(broker):
    """the process of the module, once it is there"""
    while True:
        for path in glob.glob("/proc/%s/task/*/children" % broker):
            with open(path) as f:
                pids = f.read().split()
            for pid in pids:
                try:
                    with open("/proc/%s/cmdline" % pid) as f:
                        args = f.read()
                except OSError:
                    continue
                if "burrow.so" in args:
                    return int(pid)


def logged(h, text):
    lines = []
    rpc = h.rpc("log.dmesg", {"follow": False}, flags=flux.constants.FLUX_RPC_STREAMING)
    try:
        while True:
            lines.append(rpc.get_str() or "")
            rpc.reset()
    except OSError:  # ENODATA
        return any(text in line for line in lines)


def active(h):
    return h.rpc("job-manager.stats-get").get()["active_jobs"]


def open_gap(h, pid):
    """stop the process after its hello, and before it can be ready"""
    slices = 0
    while not logged(h, "scheduler: hello"):
        os.kill(pid, signal.SIGCONT)
        time.sleep(SLICE)
        os.kill(pid, signal.SIGSTOP)
        slices += 1
    return slices


def end(h, ids):
    left = active(h) - len(ids)
    for job in ids:
        flux.job.cancel_async(h, job)
    while active(h) > left:
        time.sleep(0.05)


def main():
    h = flux.Flux()
    ids = [flux.job.JobID(line) for line in sys.stdin.read().split()]
    h.rpc("log.clear").get()
    args = {"path": sys.argv[1], "name": "sched-burrow", "args": ["log-level=debug"], "exec": True}
    load = h.rpc("module.load", args)
    pid = child(h.attr_get("broker.pid"))
    os.kill(pid, signal.SIGSTOP)
    try:
        slices = open_gap(h, pid)
        end(h, ids)
        late = logged(h, "scheduler: ready")
    finally:
        os.kill(pid, signal.Signals["SIG" + sys.argv[2]])
    if sys.argv[2] == "CONT":
        load.get()
    print("hello after %d slices, %d jobs ended%s" % (slices, len(ids), ", but it was ready" if late else ""))
    return late


sys.exit(main())
