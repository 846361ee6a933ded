#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# alone.sh FLAVOUR PROGRAM LIBCD_MPI: a rank that fails alone, with and without a helper thread.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-alone.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

for mode in sync async; do
    timeout 40 bash "$mpirun" "$flavour" 2 env "LD_PRELOAD=$library" \
        "$program" "$scratch/$mode" "redundancy=partner,redundancy_mode=$mode" \
        >"$scratch/log" 2>&1 || { echo "redundancy_mode=$mode:"; cat "$scratch/log"; exit 1; }
    [ "$(grep -c 'has come through$' "$scratch/log")" -eq 2 ] || { cat "$scratch/log"; exit 1; }
    ! grep 'becomes redundancy=single' "$scratch/log" || { echo "CD_GROUP was not taken"; exit 1; }
done
