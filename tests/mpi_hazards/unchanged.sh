#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Programs that use no MPI, or no CDs, do with the logger what they do without.
# use: unchanged.sh LOGGER COMMAND...   runs COMMAND with @PRELOAD@ in it replaced
set -euo pipefail
logger=$1
shift

# Standard output, standard error and exit code.
behaviour() {
    local code=0
    "$@" 2>&1 || code=$?
    echo "exit code $code"
}

plain=$(behaviour "${@/@PRELOAD@/LD_PRELOAD=}")
preloaded=$(behaviour "${@/@PRELOAD@/LD_PRELOAD=$logger}")
if [ "$plain" != "$preloaded" ]; then
    diff <(echo "$plain") <(echo "$preloaded") || true
    exit 1
fi
[ -n "$plain" ]
