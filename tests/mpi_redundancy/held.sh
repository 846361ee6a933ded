#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# held.sh FLAVOUR PROGRAM LIBCD_MPI: a rank ends MPI with roots that the others go on with.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-held.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
line='rank 3 has come to MPI_Finalize and has not committed it, while others go on'

# with LINES ARGUMENT...: four ranks, of whom one says in so many lines what it has left.
with() {
    local lines=$1
    shift
    timeout -k 5 60 bash "$mpirun" "$flavour" 4 env "LD_PRELOAD=$library" "$program" "$scratch/stores" "$@" \
        >"$scratch/log" 2>&1 || { echo "$*: status $?:"; cat "$scratch/log"; exit 1; }
    [ "$(grep -c 'has come through$' "$scratch/log")" -eq 4 ] || { cat "$scratch/log"; exit 1; }
    [ "$(grep -c "$line.*; epoch 1 stays protected" "$scratch/log")" -eq "$lines" ] || { echo "$*: not $lines lines:"; cat "$scratch/log"; exit 1; }
    ! grep -v "has come through\$\|$line" "$scratch/log" || { echo "$*: somebody complains"; exit 1; }
}

storage=store=file,sync=none,redundancy=xor
flush=",flush=$scratch/parallel,flush_interval=1"
again() {
    with 0 "$1" again
    [ -z "$(find "$scratch/stores" -type f)" ] || { echo "something is left"; find "$scratch/stores" -type f; exit 1; }
}
with 2 "$storage" advance
again "$storage"
with 2 "$storage" commit late
again "$storage"
with 2 "$storage,redundancy_mode=async" advance late
again "$storage"
with 2 "$storage$flush" commit
again "$storage$flush"
# Where all end with roots, as programs do that are to be started again, nobody says anything.
with 0 "$storage$flush" nothing
again "$storage$flush"
