#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# threads.sh FLAVOUR PROGRAM LIBCD_MPI: threads of two ranks that use roots at the same time.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-threads.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

timeout 60 bash "$mpirun" "$flavour" 2 env "LD_PRELOAD=$library" "$program" "$scratch/stores" \
    >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
[ "$(grep -c 'has come through$' "$scratch/log")" -eq 2 ] || { cat "$scratch/log"; exit 1; }
