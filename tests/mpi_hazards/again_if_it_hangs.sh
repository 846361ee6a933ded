#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# again_if_it_hangs.sh COMMAND...: runs it, and up to two more times if it takes 20 seconds. For what an
# MPI does not always do, without the logger, too.
set -euo pipefail
for attempt in 1 2 3; do
    code=0
    timeout 20 "$@" || code=$?
    [ "$code" -eq 124 ] || exit "$code"
    echo "attempt $attempt hung" >&2
done
exit 1
