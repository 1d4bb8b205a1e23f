# SPDX-License-Identifier: LGPL-3.0-or-later
#
# window-calls.py change|rpc N - four rounds on all nodes, N times: the changes
# of a rabbit job's window by burrow.set, or one RPC to each node
import sys
import time

import flux

handle = flux.Flux()
size = int(handle.attr_get("size"))
gen = int(time.time() * 1e6)
for job in range(int(sys.argv[2])):
    for phase in ("mount", "run", "unmount", "idle"):
        if sys.argv[1] == "rpc":
            calls = [handle.rpc("burrow.stats-get", nodeid=rank) for rank in range(size)]
            for call in calls:
                call.get()
            continue
        gen += 1
        ranks = "0" if size == 1 else "0-%d" % (size - 1)
        answer = handle.rpc("burrow.set", {"ranks": ranks, "phase": phase, "id": 1 + job, "gen": gen}).get()
        if answer["failed"]:
            sys.exit(answer["failed"])
