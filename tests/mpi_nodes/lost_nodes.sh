#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# lost_nodes.sh NAME FLAVOUR SOLVER LIBCD_MPI: a solver on nodes with network, host name and local
# directory of their own, of which some are lost with all that they have; others take their places,
# and the answer is that of a run that nobody disturbed. Where this machine allows no such nodes,
# they are directories, and that is said.
set -euo pipefail
name=$1 flavour=$2 solver=$3 library=$4
here=$(dirname "$0")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-nodes.XXXXXX")
local_directory=$scratch/local
mkdir "$local_directory"
export DIRECTORY=$local_directory
steps=6
limit=60 # seconds for a run
source "$here/nodes.sh"

die() {
    echo "$*" >&2
    for log in "$scratch"/*.log; do sed "s|^|$(basename "$log"): |" "$log" >&2; done
    exit 1
}

if nodes_are_possible; then
    trap 'remove_nodes; rm -rf "$scratch"' EXIT
    start_bridge
    on_nodes() { # NODES COMMAND...
        run_on_nodes "$flavour" "$@"
    }
    # The launchers do not always notice soon that a process on another node was killed.
    end_all() {
        local node
        for node in "${!holders[@]}"; do end_processes_on "$node"; done
    }
else
    trap 'rm -rf "$scratch"' EXIT
    echo "Namespaces are not permitted here: nodes are directories."
    start_node() { mkdir -p "$local_directory/$1"; }
    end_all() { :; }
    lose_node() { rm -rf "${local_directory:?}/$1"; }
    on_nodes() {
        local nodes=$1
        shift
        bash "$here/../../examples/mpirun.sh" "$flavour" "$(wc -w <<<"$nodes")" env "NODES=$nodes" "$@"
    }
fi

run() { # LOG NODES STORAGE NAME=VALUE...
    local log=$scratch/$1.log nodes=$2 storage=$3
    shift 3
    on_nodes "$nodes" env "LD_PRELOAD=$library" "DIRECTORY=$DIRECTORY" "$@" \
        "$solver" "$steps" "$storage" >"$log" 2>&1 </dev/null
}
must_run() { run "$@" || die "the run $1 failed"; }
must_fail() { ! run "$@" || die "the run $1 did not fail"; }
must_die() {
    limit=20 must_fail "$@"
    end_all
}
count() { grep -cE -- "$2" "$scratch/$1.log" || true; }
answer() { grep '^answer' "$scratch/$1.log" || true; }

survives() { # STORAGE NODES LOST: with as many new nodes in their places
    local storage=$1 nodes=$2 lost=$3 node now
    for node in $nodes; do start_node "$node"; done
    must_run undisturbed "$nodes" "$storage"
    must_die died "$nodes" "$storage" DIE=1:4
    now=$nodes
    for node in $lost; do
        lose_node "$node"
        start_node "new$node"
        now=${now/$node/new$node}
    done
    must_run again "$now" "$storage"
    [ "$(count again 'starts from step 4$')" -eq "$(wc -w <<<"$nodes")" ] ||
        die "not all ranks started from step 4"
    [ -n "$(answer undisturbed)" ] || die "there is no answer to compare with"
    diff <(answer undisturbed) <(answer again) >&2 || die "another answer"
}

case $name in
xor) survives redundancy=xor "n0 n1 n2 n3" "n2" ;;
rs) survives redundancy=rs:2 "n0 n1 n2 n3" "n1 n2" ;;
partner) survives redundancy=partner "n0 n1 n2 n3" "n0 n2" ;;
too_much)
    nodes="n0 n1 n2 n3"
    for node in $nodes; do start_node "$node"; done
    must_die died "$nodes" redundancy=xor DIE=1:4
    for node in n1 n3; do
        lose_node "$node"
        start_node "new$node"
    done
    for attempt in again "once more"; do
        must_fail "$attempt" "n0 newn1 n2 newn3" redundancy=xor
        [ "$(count "$attempt" 'epoch 4: set 1 of 1 .*files of ranks 1, 3 are lost')" -eq 4 ] ||
            die "not all ranks say what is lost"
    done
    ;;
*) die "there is no scenario $name" ;;
esac
