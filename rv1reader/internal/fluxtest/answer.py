# SPDX-License-Identifier: LGPL-3.0-or-later
# Answers questions, a JSON array a line, with what flux-core's library says.
import json
import sys

from flux import hostlist, idset


def ask_idset(text):
    s = idset.decode(text)
    return {"out": str(s), "count": s.count()}


def ask_idset_op(op, a, b):
    a, b = idset.decode(a), idset.decode(b)
    r = {"union": a.union, "intersect": a.intersect, "difference": a.difference}[op](b)
    return {"out": str(r), "count": r.count()}


def ask_hostlist(text):
    h = hostlist.decode(text)
    n = h.count()
    out = {"out": h.encode(), "count": n}
    if n:
        out["first"], out["last"] = h[0], h[n - 1]
    out["uniq"] = h.uniq().encode()
    return out


for line in sys.stdin:
    name, *args = json.loads(line)
    try:
        answer = globals()["ask_" + name](*args)
        answer["ok"] = True
    except Exception as e:
        answer = {"ok": False, "err": str(e)}
    sys.stdout.write(json.dumps(answer) + "\n")
