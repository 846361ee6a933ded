#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# Programs that use no MPI, or no CDs, do with the logger what they do without.
# use: unchanged.sh LOGGER CODE COMMAND...   runs COMMAND with @PRELOAD@ in it replaced; it has to
# end with this exit code
set -euo pipefail
logger=$1 code=$2
shift 2

# Standard output, standard error and exit code.
behaviour() {
    local ended=0
    "$@" 2>&1 || ended=$?
    echo "exit code $ended"
}

plain=$(behaviour "${@/@PRELOAD@/LD_PRELOAD=}")
preloaded=$(behaviour "${@/@PRELOAD@/LD_PRELOAD=$logger}")
if [ "$plain" != "$preloaded" ]; then
    diff <(echo "$plain") <(echo "$preloaded") || true
    exit 1
fi
[ "$(tail -n 1 <<<"$plain")" = "exit code $code" ] || { # a program that is not there is unchanged, too
    echo "$plain"
    exit 1
}
