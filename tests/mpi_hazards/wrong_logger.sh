#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# wrong_logger.sh LOGGER COMMAND...: a program under the logger of another MPI says so in one line and exits with 1.
set -uo pipefail
logger=$1
shift
output=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_PRELOAD=$logger "$@" 2>&1)
status=$?
printf '%s\nexit status %d\n' "$output" "$status"
[ "$status" -eq 1 ] && [ "$(wc -l <<<"$output")" -eq 1 ] &&
    [[ $output == "pmpi_logger: this is the logger for "*", but the program uses "* ]]
