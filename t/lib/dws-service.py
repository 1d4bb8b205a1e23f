# SPDX-License-Identifier: LGPL-3.0-or-later
"""Answers the dws jobtap plugin as the workflow service of a rabbit system.

The plugin asks the service "dws" for create, setup and post_run of a job, and
is told of the end of each by requests to its own methods. Run in an instance:

    flux python dws-service.py [--setup S] [--unmount S] [--never]
                               [--give-up] [--check DIR]
"""

import argparse
import os
import sys

import flux
from flux.constants import FLUX_MSGTYPE_REQUEST

parser = argparse.ArgumentParser()
parser.add_argument("--setup", type=float, default=0.2, help="seconds to dws_environment")
parser.add_argument("--unmount", type=float, default=0.2, help="seconds to the end of dws-epilog")
parser.add_argument("--never", action="store_true", help="dws_environment never comes")
parser.add_argument("--give-up", action="store_true", help="the unmount fails")
parser.add_argument("--check", metavar="DIR",
                    help="mount and unmount only while a service is up: fail if DIR has no up.* file")
options = parser.parse_args()

handle = flux.Flux()


def after(seconds, action):
    def fire(_handle, watcher, _revents, _arg):
        watcher.stop()
        action()

    handle.timer_watcher_create(seconds, fire).start()


def tell(method, **payload):
    handle.rpc("job-manager.dws." + method, payload)


def up():
    return not options.check or any(n.startswith("up.") for n in os.listdir(options.check))


def note(text):
    print(text, flush=True)


def mounted(jobid):
    if not up():
        after(0.05, lambda: mounted(jobid))
        return
    note(f"mounted {jobid}")
    tell("prolog-remove", id=jobid, variables={"DW_JOB_project1": "/mnt/nnf"})


over = set()


def end(jobid):
    """Ends dws-epilog, once."""
    if jobid not in over:
        over.add(jobid)
        tell("epilog-remove", id=jobid)


def unmounted(jobid):
    if not up():
        after(0.05, lambda: unmounted(jobid))
        return
    note(f"unmounted {jobid}")
    end(jobid)


def on_create(msg, request):
    handle.respond(msg, {"success": True})
    tell("resource-update", id=request["jobid"], resources=request["resources"], exclude=None)


def on_setup(msg, request):
    handle.respond(msg, {"success": True})
    if not options.never:
        after(options.setup, lambda: mounted(request["jobid"]))


def on_post_run(msg, request):
    if options.give_up:
        handle.respond(msg, {"success": False, "errstr": "unmount failed on request"})
        return
    handle.respond(msg, {"success": True})
    after(options.unmount, lambda: unmounted(request["jobid"]))


def on_end(msg, request):
    handle.respond(msg, None)
    end(request["jobid"])


METHODS = {"create": on_create, "setup": on_setup, "post_run": on_post_run,
           "teardown": on_end, "abort": on_end}


def dispatch(_handle, _type, msg, name):
    METHODS[name](msg, msg.payload)


handle.service_register("dws").get()
for method in METHODS:
    handle.msg_watcher_create(dispatch, FLUX_MSGTYPE_REQUEST, "dws." + method, args=method).start()
note("ready")
sys.exit(handle.reactor_run())
