#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# compare.sh LOGGER LIMIT COMMAND...: runs COMMAND bare and under CD_LOG=all, with "@ENVIRONMENT@" in it
# replaced; output and exit code have to be the same, and the log files whole.
set -euo pipefail
logger=$1 limit=$2
shift 2

directory=$(mktemp -d "${TMPDIR:-/tmp}/cd_whole.XXXXXX")
trap 'rm -rf "$directory"' EXIT

behaviour() {
    local code=0
    "$@" 2>&1 || code=$?
    echo "exit code $code"
}
bare=$(behaviour "${@/@ENVIRONMENT@/LD_PRELOAD=}" | sort)
recorded=$(behaviour "${@/@ENVIRONMENT@/LD_PRELOAD=$logger}" | sort)
[ "$bare" = "$recorded" ]

export CD_LOG=all CD_LOG_FILE=$directory/log CD_LOG_LIMIT=$limit
recorded=$(behaviour "${@/@ENVIRONMENT@/LD_PRELOAD=$logger}" | sort)
if [ "$bare" != "$recorded" ]; then
    diff <(echo "$bare") <(echo "$recorded") || true
    exit 1
fi
[ "$(stat -c %a "$directory/log")" = 700 ]
[ "$(stat -c %a "$directory/log/rank-0.cdmpilog")" = 600 ]
python3 "$(dirname "${BASH_SOURCE[0]}")/read_log.py" MPI_Sendrecv=1 MPI_Win_create=0 MPI_Comm_dup=300 \
    MPI_Comm_free=300 MPI_Allreduce=301 MPI_Isend=1 MPI_Irecv=1 MPI_Waitall=1 \
    MPI_Iprobe=2002 vain=3000 \
    "$directory"/log/rank-{0,1}.cdmpilog
