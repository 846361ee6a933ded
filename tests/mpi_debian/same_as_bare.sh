#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# same_as_bare.sh LOGGER LOGS INPUT RESULT KEEP COMMAND...: runs COMMAND in a directory of its own with a copy of
# the file INPUT, bare and under CD_LOG=all, with "@ENVIRONMENT@" in it replaced. What it prints, or the
# file RESULT if that is not "-", has to be the same both times, and so has its exit code. KEEP is a
# sed script that keeps what does not depend on time. LOGS: "files", where each
# rank has to leave a log; "memory" where that would be too large: there the logger has to complain of
# its CD_LOG_LIMIT, which tells that it was there.
set -euo pipefail
logger=$1 logs=$2 input=$3 result=$4 keep=$5
shift 5

directory=$(mktemp -d "${TMPDIR:-/tmp}/cd_debian.XXXXXX")
trap 'rm -rf "$directory"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

behaviour() { # NAME COMMAND...
    local name=$1 code=0
    shift
    mkdir "$directory/$name"
    cd "$directory/$name"
    cp "$input" .
    "$@" >printed 2>errors || code=$?
    { sed -nE "$keep" "$([ "$result" = - ] && echo printed || echo "$result")" | sort
      echo "exit code $code"; } >"$directory/$name.behaviour"
}
behaviour bare "${@/@ENVIRONMENT@/LD_PRELOAD=}"
export CD_LOG=all CD_LOG_LIMIT=1000000
if [ "$logs" = files ]; then
    export CD_LOG_FILE=$directory/log
else
    CD_LOG_LIMIT=none
fi
behaviour recorded "${@/@ENVIRONMENT@/LD_PRELOAD=$logger}"

if ! diff "$directory/bare.behaviour" "$directory/recorded.behaviour"; then
    cat "$directory/recorded/errors"
    exit 1
fi
grep -v '^exit code' "$directory/bare.behaviour" | wc -l | sed 's/$/ lines, the same bare and recorded/'
[ "$(wc -l <"$directory/bare.behaviour")" -gt 5 ]
grep -qx 'exit code 0' "$directory/bare.behaviour"
if [ "$logs" = memory ]; then
    grep -q 'CD_LOG_LIMIT is "none", which counts as not set; allowed: a size in bytes, or with K, M or G, such as 64M' "$directory/recorded/errors"
else
    for rank in 0 1; do
        [ "$(head -c 8 "$CD_LOG_FILE/rank-$rank.cdmpilog")" = CDMPILOG ]
        stat -c '%n: %s bytes' "$CD_LOG_FILE/rank-$rank.cdmpilog"
    done
fi
