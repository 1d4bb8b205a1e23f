# SPDX-License-Identifier: LGPL-3.0-or-later
"""amend.py - properties for fake nodes: the first half is batch, the second
debug, and ranks 2 and 3 are big"""


def amend(R, hwloc_xml=None):
    n = int(R["execution"]["R_lite"][0]["rank"].split("-")[-1]) + 1
    R["execution"]["properties"] = {
        "batch": f"0-{n // 2 - 1}",
        "debug": f"{n // 2}-{n - 1}",
        "big": "2-3",
    }
    return R
