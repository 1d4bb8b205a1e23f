# SPDX-License-Identifier: LGPL-3.0-or-later
"""booked.py - was anything ever held by two jobs at once?

Looks at the eventlog and R of every job: it holds what R says from its alloc
event to its free event, less ranks that a release event let go of before.
Prints the number of jobs that had resources; exits 1 if two of them overlap.
"""

import json
import sys

import flux
import flux.job
from flux.idset import IDset


def holdings(handle, jobid):
    """[(rank, child, id), start, end) of one job"""

    def lookup(key):
        return handle.rpc("job-info.lookup", {"id": jobid, "keys": [key], "flags": 0}).get()[key]

    try:
        log = lookup("eventlog")
        R = json.loads(lookup("R"))
    except (OSError, ValueError):
        return []
    start, end, released = None, float("inf"), {}
    ranks = [rank for entry in R["execution"]["R_lite"] for rank in IDset(entry["rank"])]
    for line in log.splitlines():
        event = json.loads(line)
        if event["name"] == "alloc":
            start = event["timestamp"]
        elif event["name"] == "release":
            which = event["context"]["ranks"]
            for rank in ranks if which == "all" else IDset(which):
                released[rank] = event["timestamp"]
        elif event["name"] == "free":
            end = event["timestamp"]
    if start is None:
        return []
    out = []
    for entry in R["execution"]["R_lite"]:
        for rank in IDset(entry["rank"]):
            for child, ids in entry["children"].items():
                for i in IDset(ids):
                    out.append(((rank, child, i), start, min(end, released.get(rank, end))))
    return out


def main():
    handle = flux.Flux()
    jobs = flux.job.JobList(handle, max_entries=0, filters=["pending", "running", "inactive"], user="all")
    use, count, bad = {}, 0, 0
    for job in jobs.jobs():
        held = holdings(handle, job.id)
        count += bool(held)
        for what, start, end in held:
            use.setdefault(what, []).append((start, end, job.id.f58))
    for what, spans in use.items():
        spans.sort()
        for (_, end, a), (start, _, b) in zip(spans, spans[1:]):
            if start < end:
                bad += 1
                print("rank %d %s%d: %s until %.6f, %s from %.6f" % (*what, a, end, b, start))
    print(count, "jobs")
    return bad > 0


sys.exit(main())
