# SPDX-License-Identifier: LGPL-3.0-or-later
"""storm.py - reload the scheduler again and again under a random load

usage: storm.py PATH ROUNDS [SEED] [ARG...]

Jobs of many shapes are submitted, cancelled, extended and made more or less
urgent all the while. Ends when every job is inactive; prints what was done.
"""

import collections
import random
import sys
import time

import flux
import flux.job
from flux.job import JobspecV1


def submit(h, rng):
    kind = rng.randrange(4)
    if kind == 0:
        spec = JobspecV1.from_command(["true"], num_tasks=rng.randint(1, 6), cores_per_task=rng.randint(1, 2))
    elif kind == 1:
        spec = JobspecV1.from_command(["true"], num_tasks=rng.randint(1, 2), gpus_per_task=1)
    else:
        n = rng.randint(1, 5)
        spec = JobspecV1.from_command(["true"], num_tasks=n, num_nodes=n, exclusive=kind == 2)
    spec.duration = rng.choice([0, 30, 300])
    spec.setattr("system.exec.test.run_duration", "%.2fs" % max(0.02, rng.expovariate(10)))
    return flux.job.submit_async(h, spec, urgency=rng.randint(1, 31))


def main():
    path, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    args = sys.argv[4:]
    rng = random.Random(seed)
    h = flux.Flux()
    done = collections.Counter()
    ids = []

    def some():
        """a few random acts; refusals (the job is over) do not count"""
        for f in [submit(h, rng) for _ in range(rng.randint(0, 6))]:
            ids.append(flux.job.submit_get_id(f))
            done["submit"] += 1
        for _ in range(rng.randint(0, 4)):
            if not ids:
                return
            job = rng.choice(ids[-60:])
            act = rng.choice(["cancel", "urgency", "update"])
            try:
                if act == "cancel":
                    flux.job.cancel(h, job)
                elif act == "urgency":
                    h.rpc("job-manager.urgency", {"id": job, "urgency": rng.randint(1, 31)}).get()
                else:
                    h.rpc("job-manager.update", {"id": job, "updates": {"attributes.system.duration": 600.0}}).get()
                done[act] += 1
            except OSError:
                done["refused " + act] += 1

    print("seed", seed)
    for n in range(rounds):
        some()
        h.rpc("module.remove", {"name": "sched-burrow"}).get()
        if n % 2:
            some()
        h.rpc("module.load", {"path": path, "name": "sched-burrow", "args": args, "exec": False}).get()
        some()
        if n % 3:
            time.sleep(rng.random() * 0.2)
        done["reload"] += 1
    for job in ids:
        flux.job.event_wait(h, job, "clean", raiseJobException=False)
    print(", ".join("%d %s" % (v, k) for k, v in sorted(done.items())))


main()
