#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The cases of t3050 under another policy, in a file of their own for the time.
POLICIES=conservative
export POLICIES
. "$(dirname "$0")/t3050-sched-idle.t"
