#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# coupled.sh FLAVOUR PROGRAM LIBCD_MPI: two codes of one job, each with a root of its own, whose
# nodes come in another order.
set -euo pipefail
flavour=$1 program=$2 library=$3
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-coupled.XXXXXX")
others=() # processes that hold locks until they are killed
trap 'kill "${others[@]}" 2>/dev/null || true; rm -rf "$scratch"' EXIT
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
has() { # CODE NODE...: these have its points in time, and no others
    local code=$1 there
    shift
    there=$(cd "$scratch" && printf '%s ' */"$code.points")
    [ "$there" = "$(printf "%s/$code.points " "$@")" ] || { echo "not on $*: $there"; exit 1; }
}

run 2 n0 n1 n2 n3
from 0 0
has ocean n0 n1
has air n2 n3

# Each finds nothing, and gets it from where the other one is.
run 2 n3 n2 n1 n0
from 2 2
has ocean n2 n3
has air n0 n1

# One node each is with the other code.
run 1 n2 n1 n0 n3
from 4 4
has ocean n1 n2
has air n0 n3

# What another job uses stays where it is.
lock() { # NODE
    python3 - "$scratch/$1/ocean.points/in-use-0000000000000001-0" "$scratch/locked-$1" <<'END' &
import fcntl, signal, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
signal.pause()
END
    others+=($!)
    until [ -e "$scratch/locked-$1" ]; do sleep 0.05; done
}
lock n1
lock n2
run 0 n4 n5 n1 n2
expect 2 "ocean: epoch 5 of root \"ocean\" is in $scratch/n"
restart=no run 0 n6 n7 n1 n2
expect 2 "ocean from epoch 0"
rm -rf "$scratch/n6" "$scratch/n7"
kill "${others[1]}"
wait "${others[1]}" || true
run 0 n4 n5 n1 n2
expect 2 "ocean from epoch 5, state"
kill "${others[0]}"
wait "${others[0]}" || true

# What it left there is as those have it who lost it, and goes now.
run 0 n4 n5 n1 n2
expect 2 "ocean from epoch 5, state"
has ocean n4 n5

# What fails for one root, as its points in time come, is no matter of the other's.
mkdir "$scratch/n6"
touch "$scratch/n6/ocean.points"
run 0 n6 n7 n4 n5
expect 2 "ocean: root \"ocean\", whose points in time come from nodes where none of its ranks is: "
expect 2 "$scratch/n6/ocean.points"
expect 2 "air from epoch 0"
rm "$scratch/n6/ocean.points"
run 0 n6 n7 n4 n5
expect 2 "ocean from epoch 5, state"
