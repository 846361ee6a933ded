#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# lost_nodes.sh NAME FLAVOUR SOLVER LIBCD_MPI FINALIZE_MPICH: a solver on nodes with network, host
# name and local directory of their own, of which some are lost with all that they have; others take
# their places, and the answer is that of a run that nobody disturbed. Where this machine allows no
# such nodes, or with CD_TEST_NODES=directories, they are directories, and that is said. With
# CD_TEST_LONG=1 ranks are lost at each of their calls that writes, not at one.
set -euo pipefail
name=$1 flavour=$2 solver=$3 library=$4
# shellcheck disable=SC2034 # of nodes.sh
finalize_mpich=$5
here=$(dirname "$0")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-nodes.XXXXXX")
local_directory=$scratch/local
lost=$scratch/lost # written by a process that waits for its node to be lost
mkdir "$local_directory"
steps=6
limit=60 # seconds for a run
source "$here/nodes.sh"
if [ "${CD_TEST_NODES-}" = directories ] || ! nodes_are_possible; then
    echo "Nodes are directories: namespaces are not permitted here, or not wanted."
    source "$here/directories.sh"
fi
trap 'remove_nodes; rm -rf "$scratch"' EXIT

die() {
    echo "$*" >&2
    for log in "$scratch"/*.log; do sed "s|^|$(basename "$log"): |" "$log" >&2; done
    exit 1
}

run() { # LOG NODES STORAGE NAME=VALUE...
    local log=$scratch/$1.log nodes=$2 storage=$3
    shift 3
    run_on_nodes "$flavour" "$nodes" "$library" "DIRECTORY=$local_directory" "$@" \
        "$solver" "$steps" "$storage" >"$log" 2>&1 </dev/null
}
must_run() { run "$@" || die "the run $1 failed"; }
must_fail() { ! run "$@" || die "the run $1 did not fail"; }
must_die() {
    limit=20 must_fail "$@"
    end_all
}

# When a rank comes to where DIE says, nodes are lost, its own first; the others learn what they
# learn. False when all come to the end.
loses() { # NODES LOG NODES STORAGE NAME=VALUE...
    local nodes=$1 node started
    shift
    limit=20 run "$@" "LOST=$lost" &
    started=$!
    while [ ! -e "$lost" ] && kill -0 "$started" 2>/dev/null; do sleep 0.05; done
    if [ -e "$lost" ]; then
        for node in $nodes; do lose_node "$node"; done
        rm "$lost"
        for _ in {1..20}; do # the launcher may notice
            kill -0 "$started" 2>/dev/null || break
            sleep 0.1
        done
        end_all
        wait "$started" && die "the run $1 did not fail"
        return 0
    fi
    wait "$started" || die "the run $1 failed before $nodes were lost"
    return 1
}

now='' # who runs where
use() {
    local node
    now=$1
    for node in $now; do start_node "$node"; done
}
spares=0
replace() { # NODE: that is lost already
    local spare=spare$((++spares))
    start_node "$spare"
    now=${now/$1/$spare}
}
lose() {
    local node
    for node in "$@"; do lose_node "$node"; done
    for node in "$@"; do replace "$node"; done
}
node_of() { cut -d ' ' -f $(($1 + 1)) <<<"$now"; } # RANK

count() { grep -cE -- "$2" "$scratch/$1.log" || true; }
by_all() { # LOG WHAT
    [ "$(count "$1" "$2")" -eq "$(wc -w <<<"$now")" ] || die "not all ranks of the run $1 said '$2'"
}
answer() { grep '^answer' "$scratch/$1.log" || true; }

# Goes on from one of these steps, the same on all ranks, to the same answer as undisturbed.
must_go_on() { # LOG STEPS STORAGE
    must_run "$1" "$now" "$3"
    by_all "$1" "starts from step $2\$"
    [ "$(grep -oE 'starts from step .*' "$scratch/$1.log" | sort -u | wc -l)" -eq 1 ] ||
        die "the ranks of the run $1 started from different steps"
    answer_is_that_of_an_undisturbed_run "$1"
}
answer_is_that_of_an_undisturbed_run() {
    timeout "$limit" bash "$here/../../examples/mpirun.sh" "$flavour" "$(wc -w <<<"$now")" \
        env "LD_PRELOAD=$library" "NODES=$now" "DIRECTORY=$scratch/undisturbed" \
        "$solver" "$steps" sync=none,redundancy=single >"$scratch/undisturbed.log" 2>&1 ||
        die "the undisturbed run failed"
    [ -n "$(answer undisturbed)" ] || die "there is no answer to compare with"
    diff <(answer undisturbed) <(answer "$1") >&2 || die "the run $1 came to another answer"
}

survives() { # STORAGE LOST...
    local storage=$1
    shift
    must_die died "$now" "$storage" DIE=1:4
    lose "$@"
    must_go_on again 4 "$storage"
}

loses_too_much() { # STORAGE NODES WHAT
    local storage=$1 attempt before
    must_die died "$now" "$storage" DIE=1:4
    # shellcheck disable=SC2086 # several
    lose $2
    before=$(all_files)
    for attempt in again "once more"; do
        SECONDS=0
        must_fail "$attempt" "$now" "$storage"
        [ "$SECONDS" -le 20 ] || die "it took $SECONDS seconds to find that too much is lost"
        by_all "$attempt" "$3"
        [ "$(all_files)" = "$before" ] || die "the run $attempt made or deleted files"
    done
}
all_files() {
    local node
    for node in $now; do files_of_node "$node" | sort; done
}

# Which of rank 1's writes does not happen: the one given, in the middle of coding, or one after the other.
writes() { # ONE
    if [ "${CD_TEST_LONG-}" ]; then
        seq 1 12
    else
        echo "Not run without CD_TEST_LONG=1: nodes lost before each of the other writes." >&2
        echo "$1"
    fi
}

few="n0 n1 n2 n3"
many="$few n4 n5"
start_network
case $name in
xor)
    use "$few"
    survives redundancy=xor n2
    ;;
rs)
    use "$many"
    survives redundancy=rs:2 n1 n2
    ;;
partner) # neighbours
    use "$many"
    survives redundancy=partner:2 n1 n2
    ;;
too_much)
    use "$few"
    loses_too_much redundancy=xor "n0 n2" 'epoch 4: set 1 of 1 .*files of ranks 0, 2 are lost'
    ;;
while_protecting) # the fourth step, so that the third one is what remains
    use "$few"
    for write in $(writes 8); do
        node=$(node_of 1)
        loses "$node" died "$now" redundancy=xor "DIE=1:3:pwrite:$write" ||
            die "rank 1 does not write $write times"
        replace "$node"
        must_go_on again "$([ "$write" = 12 ] && echo '[34]' || echo 3)" redundancy=xor
    done
    ;;
while_rebuilding) # the node that has taken a lost one's place, and one more
    use "$few"
    for write in $(writes 3); do
        must_die died "$now" redundancy=rs:2 DIE=1:4
        lose "$(node_of 1)"
        nodes="$(node_of 1) $(node_of 2)"
        loses "$nodes" rebuilding "$now" redundancy=rs:2 "DIE=1:pwrite:$write" ||
            die "rank 1 does not write $write times"
        for node in $nodes; do replace "$node"; done
        must_go_on again '[4-6]' redundancy=rs:2
    done
    ;;
flushed) # the copy of step 4 may not have counted yet
    use "$few"
    storage=redundancy=xor,flush=$scratch/parallel,flush_interval=2
    must_die died "$now" "$storage" DIE=1:5
    # shellcheck disable=SC2086 # several
    lose $few
    must_go_on again '[24]' "$storage"
    ;;
*) die "there is no scenario $name" ;;
esac
echo "$name: as it should be"
