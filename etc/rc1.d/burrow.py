# SPDX-License-Identifier: LGPL-3.0-or-later
#
# Has flux-modprobe(1) load flux-burrow's agent when an instance starts, subject
# to what modprobe.d/burrow.toml asks for. Install it in Flux's modprobe/rc1.d.
# rc3 removes the module by itself. The scheduler needs no such file: rc1 loads
# whichever module is chosen for "sched".


def setup(context):
    context.load_modules(["burrow"])
