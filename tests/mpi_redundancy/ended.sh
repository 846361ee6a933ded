#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# ended.sh FLAVOUR PROGRAM LIBCD_MPI: a rank without a root ends MPI while the others create one.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-ended.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
storage=store=file,sync=none,redundancy=xor

# with COMMAND... -- ARGUMENT...: of four ranks, each started by the command.
with() {
    local command=()
    while [ "$1" != -- ]; do command+=("$1"); shift; done
    shift
    timeout -k 5 60 bash "$mpirun" "$flavour" 4 env "${command[@]}" "$program" "$scratch/stores" "$@" \
        >"$scratch/log" 2>&1 || { echo "${command[*]}: $*: status $?:"; cat "$scratch/log"; exit 1; }
    [ "$(grep -c 'has come through$' "$scratch/log")" -eq 4 ] || { cat "$scratch/log"; exit 1; }
    ! grep -v 'has come through$' "$scratch/log" || { echo "$*: somebody complains"; exit 1; }
    rm -rf "$scratch/stores"
}

for late in '' late; do
    with "LD_PRELOAD=$library" -- "$storage" shared $late
    with "LD_PRELOAD=$library" "CD_STORAGE_INFO=$storage" -- "$storage" $late
done
# Those who have met wait for each other however long it takes, so that MPI does not complain.
if [ "$flavour" = mpich ] && [ "${CD_TEST_LONG-}" ]; then
    with "LD_PRELOAD=$library" -- "$storage" shared alone
elif [ "$flavour" = mpich ]; then
    echo "Not run without CD_TEST_LONG=1: a rank that comes to MPI_Finalize half a minute after the others." >&2
fi
# Nothing tells the rank that ends of redundancy. MPICH would complain of what is under way then.
[ "$flavour" != openmpi ] || with "LD_PRELOAD=$library" -- "$storage"
# Programs without roots see nothing of it, nor those of which only some have the library.
with "LD_PRELOAD=$library" -- none
cat >"$scratch/some" <<END
#!/bin/sh
[ \$((\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK} % 2)) = 0 ] || export LD_PRELOAD=$library
exec "\$@"
END
chmod +x "$scratch/some"
with CD_RANK=any "$scratch/some" -- none
# Open MPI goes on with it, so that nobody waits for those who do not tell.
[ "$flavour" != openmpi ] || {
    SECONDS=0
    with CD_RANK=any "CD_STORAGE_INFO=$storage" "$scratch/some" -- none
    [ "$SECONDS" -lt 20 ] || { echo "some: MPI_Finalize took $SECONDS s"; exit 1; }
}
