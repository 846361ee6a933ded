#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# coupled.sh FLAVOUR PROGRAM LIBCD_MPI: two codes of one job, each with a root of its own, whose
# nodes come in another order.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-coupled.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
storage="store=file,dir=$scratch/%n,group=%n,redundancy=xor,set_size=2,sync=none"

run() { # EPOCHS NODE...
    timeout 40 bash "$mpirun" "$flavour" 4 env "LD_PRELOAD=$library" "CD_RESTART=${restart-}" \
        "$program" "$storage" "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}
expect() { # TIMES TEXT
    [ "$(grep -cF "$2" "$scratch/log")" -eq "$1" ] || { echo "not $1 times: $2"; cat "$scratch/log"; exit 1; }
}

run 2 n0 n1 n2 n3
expect 2 "ocean from epoch 0"
expect 2 "air from epoch 0"

# Each finds nothing, and is told that others do.
run 2 n3 n2 n1 n0
expect 2 "ocean: epoch 2 of root \"ocean\" is in $scratch/n"
expect 2 "air: epoch 2 of root \"air\" is in $scratch/n"
expect 4 ", which does not have this root, and its own ranks find nothing: "

# One node each is with the other code: one loss, which is covered.
run 1 n2 n1 n0 n3
for rank in 0 1; do expect 1 "rank $rank: ocean from epoch 2, state $((2 * (rank + 1)))"; done
for rank in 2 3; do expect 1 "rank $rank: air from epoch 2, state $((2 * (rank + 1)))"; done

# These have what is older now.
run 0 n0 n4 n5 n2
expect 2 "ocean: epoch 3 of root \"ocean\" is in $scratch/n2/"
restart=2 run 0 n0 n1 n2 n3
expect 2 "ocean from epoch 2"
restart=no run 0 n3 n2 n1 n0
expect 2 "ocean from epoch 0"
