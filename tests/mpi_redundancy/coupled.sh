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

from() { # EPOCH STATE_OF_RANK_0: that of the others is as many times that as they are ranks
    for rank in 0 1; do expect 1 "rank $rank: ocean from epoch $1, state $(($2 * (rank + 1)))"; done
    for rank in 2 3; do expect 1 "rank $rank: air from epoch $1, state $(($2 * (rank + 1)))"; done
}
run 2 n0 n1 n2 n3
from 0 0

# One node each is with the other code: what is lost with it is rebuilt.
run 1 n2 n1 n0 n3
from 2 2

# Both nodes of a code are with the other one.
run 0 n4 n5 n1 n2
expect 2 "ocean: root \"ocean\": epoch 3 is only in $scratch/n"
restart=no run 0 n4 n5 n1 n2
expect 2 "ocean from epoch 0"
rm -rf "$scratch/n4" "$scratch/n5"
mkdir "$scratch/n4" "$scratch/n5"
cp -a "$scratch/n2/ocean.points" "$scratch/n4"
cp -a "$scratch/n1/ocean.points" "$scratch/n5"
run 0 n4 n5 n1 n2
expect 2 "ocean from epoch 3, state"
