# SPDX-License-Identifier: LGPL-3.0-or-later
"""replay.py - submit jobs at their times to a scheduler, and say what became of them

usage: replay.py JOBS OUT MODULE...

Each MODULE is what follows "flux module load"; the scheduler that is there is
unloaded before.  JOBS is a JSON list of {id, nodes, submit, run, limit}: whole
nodes, mock execution, times in seconds from the start.  OUT gets {jobs, cpu}:
the jobs with the times of their submit, alloc and free events, -1 for what
there is none of, and the CPU seconds of the scheduler.
"""

import glob
import json
import os
import subprocess
import sys
import time

import flux
import flux.job
from flux.job import JobspecV1


def threads(pid):
    return {int(name) for name in os.listdir("/proc/%d/task" % pid)}


def cpu(pid, before):
    """CPU seconds of the threads that came with the scheduler, and of the
    process of one in Python"""
    total = 0.0
    for tid in threads(pid) - before:
        with open("/proc/%d/task/%d/schedstat" % (pid, tid)) as f:
            total += int(f.read().split()[0]) / 1e9
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as f:
                line = f.read()
            with open(os.path.dirname(path) + "/stat") as f:
                stat = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if "/sched-" in line and "module-python-exec" in line and int(stat[1]) == pid:
            total += (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return total


def spec(job):
    s = JobspecV1.from_command(["true"], num_tasks=job["nodes"], num_nodes=job["nodes"], exclusive=True)
    s.duration = round(job["limit"], 3)
    s.setattr("system.exec.test.run_duration", "%.3fs" % job["run"])
    return s


def finish(h):
    """wait until all have ended; those that wait while nothing has run for some
    time are given up, as their scheduler has forgotten of them"""
    quiet = 0
    while True:
        states = [job.state for job in flux.job.JobList(h, filters=["pending", "running"], max_entries=0).jobs()]
        if not states:
            return
        quiet = quiet + 1 if all(s in ("DEPEND", "PRIORITY", "SCHED") for s in states) else 0
        if quiet == 20:
            print("%d jobs wait and nothing runs: cancelling them" % len(states), flush=True)
            subprocess.run(["flux", "cancel", "--all", "--quiet"])
            return h.rpc("job-manager.drain").get()
        time.sleep(1)


def main():
    with open(sys.argv[1]) as f:
        jobs = json.load(f)
    pid = int(flux.Flux().attr_get("broker.pid"))
    for name in ["sched-simple", "sched-fluxion-qmanager", "sched-fluxion-feasibility", "sched-fluxion-resource"]:
        subprocess.run(["flux", "module", "remove", name], stderr=subprocess.DEVNULL)
    before = threads(pid)
    for module in sys.argv[3:]:
        subprocess.run(["flux", "module", "load"] + module.split(), check=True)
    name = subprocess.run(["flux", "module", "list"], stdout=subprocess.PIPE, text=True).stdout
    print(name, flush=True)
    time.sleep(2)  # it is ready by then
    h = flux.Flux()
    specs = [spec(job) for job in jobs]
    used = cpu(pid, before)
    begin = time.time() + 0.1
    futures, late = [], 0
    for job, s in zip(jobs, specs):
        wait = begin + job["submit"] - time.time()
        if wait > 0:
            time.sleep(wait)
        late = max(late, -wait)
        futures.append(flux.job.submit_async(h, s))
    ids = [f.get_id() for f in futures]
    print("submitted, at most %.3f s late" % late, flush=True)
    finish(h)
    used = cpu(pid, before) - used
    for job, jobid in zip(jobs, ids):
        log = h.rpc("job-info.lookup", {"id": jobid, "keys": ["eventlog"], "flags": 0}).get()["eventlog"]
        at = {}
        for line in log.splitlines():
            event = json.loads(line)
            at.setdefault(event["name"], event["timestamp"])
        job["submit"] = at["submit"] - begin
        job["start"] = at["alloc"] - begin if "alloc" in at else -1
        job["end"] = at["free"] - begin if "free" in at else -1
    with open(sys.argv[2], "w") as f:
        json.dump({"jobs": jobs, "cpu": used}, f)


main()
