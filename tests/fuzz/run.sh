#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# run.sh FUZZER CORPUS [OPTION...]: starts from the committed corpus and leaves that alone; what the
# fuzzer finds goes beside the fuzzer, afresh each time, so that a run can be repeated.
set -euo pipefail
fuzzer=$1 corpus=$2
shift 2

found=$fuzzer.found
rm -rf "$found"
mkdir "$found"
exec "$fuzzer" "$@" -print_final_stats=1 -artifact_prefix="$fuzzer." "$found" "$corpus"
