# SPDX-License-Identifier: LGPL-3.0-or-later
"""sched-waiting.py - one line of sched-waiting, in an instance of its own

usage: sched-waiting.py PATH SCHEDULER NODES JOBS ROUNDS
"""

import statistics
import subprocess
import sys
import time

import flux
import flux.job
from flux.job import JobspecV1

HOUR = 3600


def spec(nodes, limit):
    s = JobspecV1.from_command(["true"], num_tasks=nodes, num_nodes=nodes, exclusive=True)
    s.duration = limit
    s.setattr("system.exec.test.run_duration", "24h")
    return s.dumps()


def submit(h, specs):
    """ids of jobs, some hundred on their way at once"""
    ids, sent = [], []
    for s in specs:
        sent.append(flux.job.submit_async(h, s))
        if len(sent) == 500:
            ids += [flux.job.submit_get_id(f) for f in sent]
            sent = []
    return ids + [flux.job.submit_get_id(f) for f in sent]


class Scheduler:
    def __init__(self, h, path, name):
        name, _, policy = name.partition(":")
        policy = policy or "easy"
        self.h = h
        if name == "burrow":
            self.name = "sched-burrow"
            self.modules = [(path, self.name, ["policy=" + policy, "log-level=err"])]
        else:
            self.name = "sched-fluxion-qmanager"
            self.modules = [
                ("sched-fluxion-resource", None, []),
                (self.name, None, ["queue-policy=" + policy, "queue-params=queue-depth=1000000"]),
            ]

    def load(self):
        for path, name, args in self.modules:
            rename = ["--name=" + name] if name else []
            subprocess.run(["flux", "module", "load", *rename, path, *args], check=True)

    def unload(self):
        for path, name, _ in reversed(self.modules):
            subprocess.run(["flux", "module", "remove", name or path], check=True)

    def longest(self, key):
        try:
            stats = self.h.rpc(self.name + ".stats-get").get()
            return "%8.3f" % stats[key]["max"]
        except (OSError, KeyError):
            return "%8s" % "-"


class Pings:
    """asks a module again and again whether it is there"""

    def __init__(self, module):
        self.child = subprocess.Popen(
            [sys.executable, __file__, "ping", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.child.stdout.readline()

    def end(self):
        """seconds of the slowest answer"""
        return float(self.child.communicate()[0])


def ping(module):
    import select

    h = flux.Flux()
    print("ready", flush=True)
    slowest = 0
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        begin = time.monotonic()
        try:
            h.rpc(module + ".ping", {"seq": 0}).get()
        except OSError:  # not loaded yet
            continue
        slowest = max(slowest, time.monotonic() - begin)
    print(slowest)


def resident(h):
    """kB of the leader's broker"""
    with open("/proc/%s/status" % h.attr_get("broker.pid")) as f:
        for line in f:
            if line.startswith("VmRSS"):
                return int(line.split()[1])


def settled(h):
    """the same, once it does not change any more"""
    last = resident(h)
    for _ in range(30):
        time.sleep(1)
        now = resident(h)
        if abs(now - last) < 256:
            break
        last = now
    return now


def when(h, job, event):
    return flux.job.event_wait(h, job, event, raiseJobException=False).timestamp


def rounds(h, n, job):
    """[(from cancel, from free)] to the start of the last job; the job that runs now"""
    out = []
    for _ in range(n):
        follower = submit(h, [spec(1, HOUR / 2)])[0]
        time.sleep(0.5)
        begin = time.time()
        flux.job.cancel(h, job)
        alloc = when(h, follower, "alloc")
        out.append((alloc - begin, alloc - when(h, job, "free")))
        when(h, follower, "start")
        job = follower
    return out, job


def main():
    path, name, nodes, jobs, count = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    h = flux.Flux()
    subprocess.run(["flux", "module", "remove", "sched-simple"], check=True)
    sched = Scheduler(h, path, name)
    sched.load()
    each = (nodes - 50) // 200
    busy = submit(h, [spec(each, HOUR + 60 * i) for i in range(200)])
    busy += submit(h, [spec(1, 24 * HOUR)] * (nodes - 200 * each))
    for job in busy:
        when(h, job, "start")
    floors, job = rounds(h, count, busy[-1])
    floor = statistics.median(f[0] for f in floors)
    print("busy; floor", floor, flush=True)

    sched.unload()
    # One of one node ends now: the last job starts once the scheduler has
    # gone through all of them.
    flux.job.cancel(h, job)
    shapes = [spec(2 + i % 250, (HOUR / 6, HOUR)[i // 250]) for i in range(500)]
    begin = time.time()
    submit(h, (shapes[i % 500] for i in range(jobs)))
    job = submit(h, [spec(1, HOUR / 2)])[0]
    when(h, job, "priority")
    print("%d submitted in %.1f s" % (jobs, time.time() - begin), flush=True)
    without = settled(h)
    pings = Pings(sched.name)
    begin = time.time()
    sched.load()
    fill = when(h, job, "alloc") - begin
    when(h, job, "start")
    print("filled in", fill, flush=True)
    pingfill = pings.end()
    memory = (settled(h) - without) / jobs
    pings = Pings(sched.name)
    times, _ = rounds(h, count, job)
    pingrounds = pings.end()
    print(times)
    cancel = statistics.median(t[0] for t in times)
    free = statistics.median(t[1] for t in times)
    print(
        "= %-20s %6d %7d %8.3f %8.3f %8.3f %8.3f %7.1f %8.3f %8.3f %s %6.2f"
        % (name, nodes, jobs, fill, cancel, free, floor, cancel / floor, pingfill, pingrounds,
           sched.longest("pass_seconds"), memory),
        flush=True,
    )


if sys.argv[1] == "ping":
    ping(sys.argv[2])
else:
    main()
