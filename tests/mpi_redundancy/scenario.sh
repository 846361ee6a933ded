#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# scenario.sh NAME FLAVOUR SOLVER LIBCD_MPI LOGGER: a solver that loses processes and nodes, which are
# directories here, and is started again; its answer is that of a run that nobody disturbed.
set -euo pipefail
name=$1 flavour=$2 solver=$3 library=$4 logger=$5
ranks=4
[ "$name" != finalized_by_all_ways ] || ranks=2 # often
mpirun=$(dirname "$0")/../../examples/mpirun.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cd-redundancy.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
steps=6
export DIRECTORY=$scratch/nodes

die() {
    echo "$*" >&2
    for log in "$scratch"/*.log; do sed "s|^|$(basename "$log"): |" "$log" >&2; done
    exit 1
}

# run LOG STORAGE NAME=VALUE...: NODES are n0, n1 and so on unless given.
run() {
    local log=$scratch/$1.log storage=$2
    shift 2
    # Open MPI 4.1 has hung after it had reported a killed rank: it is killed then.
    timeout -k 5 40 bash "$mpirun" "$flavour" "$ranks" env "LD_PRELOAD=$library" \
        "NODES=${default_nodes[*]}" "$@" "$solver" "$steps" "sync=none,$storage" >"$log" 2>&1
}
must_run() { run "$@" || die "the run $1 failed"; }
must_fail() { ! run "$@" || die "the run $1 did not fail"; }
said() { grep -qE -- "$2" "$scratch/$1.log" || die "the run $1 did not say '$2'"; }
said_by_all() {
    [ "$(grep -cE -- "$2" "$scratch/$1.log")" -eq "$ranks" ] || die "not all ranks of the run $1 said '$2'"
}
answer() { grep '^answer' "$scratch/$1.log" || true; }
same_answer() {
    [ -n "$(answer undisturbed)" ] || die "there is no answer to compare with"
    diff <(answer undisturbed) <(answer "$1") >&2 || die "the run $1 came to another answer"
}
lose() { rm -rf "${@/#/$DIRECTORY/}"; }

default_nodes=()
for ((i = 0; i < ranks; i++)); do default_nodes+=("n$i"); done
last=$((ranks - 1))

# A job that dies in step 3, and goes on with others in the places of the nodes named.
survives() { # STORAGE NODE...
    local storage=$1 now="${default_nodes[*]}" node
    shift
    must_run undisturbed "$storage"
    must_fail died "$storage" DIE=1:3
    lose "$@"
    for node in "$@"; do now=${now/$node/spare_$node}; done
    must_run again "$storage" "NODES=$now"
    said_by_all again "starts from step $expected_step\$"
    [ "$(grep -oE 'starts from step .*' "$scratch/again.log" | sort -u | wc -l)" -eq 1 ] ||
        die "the ranks started from different steps"
    same_answer again
}
expected_step=3

# MPI_Finalize is called while this is written, ends it, and ends; or a rank dies then. Nodes are lost.
ends_with_work_under_way() { # WHAT STEP_WHEN_IT_ENDS STEP_WHEN_IT_DIES NODE...
    local what=$1 ended=$2 died=$3
    shift 3
    must_run ended "$storage" COMMIT=no "HOLD=$what"
    said_by_all ended '^is under way in MPI_Finalize, '
    same_answer ended
    starts_from "$ended" "$@"
    must_fail died "$storage" COMMIT=no "HOLD=$what" "DIE=$last:held:1"
    said died '^is under way in MPI_Finalize, '
    starts_from "$died" "$@"
}
starts_from() { # STEP NODE_THAT_IS_LOST...
    lose "${@:2}"
    must_run again "$storage"
    said_by_all again "starts from step $1\$"
    same_answer again
}

# Which is held in rank 0, and calls MPI in rank 1. Whoever calls our MPI_Finalize waits before MPI ends.
must_end_while_a_thread_codes() { # before|when PROGRAM NAME=VALUE...
    local when=$1 solver=$2 meeting=$scratch/meeting
    shift 2
    echo "$solver" "$@"
    lose "${default_nodes[@]}"
    rm -rf "$meeting"
    mkdir "$meeting"
    must_run ended "$storage" COMMIT=no HOLD=/epoch-6. HOLDING=0 "MEETING=$meeting" "$@"
    grep '^is under way' "$scratch/ended.log" || true
    said ended "^is under way in MPI_Finalize, $when MPI ends\$"
    same_answer ended
}
fortran_library() {
    case $flavour in
    openmpi) echo libmpi_mpifh.so.40 ;;
    mpich) echo libmpichfort.so.12 ;;
    esac
}

case $name in
async) # what was under way may not have counted yet
    expected_step='[23]'
    survives redundancy=xor,redundancy_mode=async n0
    ;;
stores_ahead) # of a program without redundancy
    must_run undisturbed redundancy=xor
    must_fail died redundancy=xor DIE=1:2
    must_fail without redundancy=none DIE=1:5 COMMIT=no
    must_run again redundancy=xor
    said_by_all again 'starts from step [12]$'
    said again "starting from protected epoch [12]; newer stores in [^ ]+ are kept as .old until the next advance. To use them, stop, rename 0-[^ ]*.cds.old to 0-[^ ]*.cds on all ranks, and start without redundancy"
    [ "$(grep -c 'starting from protected' "$scratch/again.log")" -eq 1 ] || die "it was not said once"
    same_answer again
    ;;
logged) # whichever library comes first
    must_run undisturbed redundancy=xor
    for preloaded in "$library:$logger" "$logger:$library"; do
        must_run again redundancy=xor LOGGED=yes "LD_PRELOAD=$preloaded"
        same_answer again
    done
    ;;
moved)
    must_run undisturbed redundancy=xor
    must_fail died redundancy=xor DIE=0:4
    must_run again redundancy=xor "NODES=$(printf '%s\n' "${default_nodes[@]}" | tac | xargs)"
    said_by_all again 'starts from step 4$'
    same_answer again
    ;;
one_node)
    must_run undisturbed redundancy=xor "NODES=$(printf 'n0 %.0s' "${default_nodes[@]}")"
    said undisturbed 'redundancy=XOR becomes redundancy=single'
    [ "$(grep -c 'becomes redundancy=single' "$scratch/undisturbed.log")" -eq 1 ] ||
        die "more than one warning"
    ;;
no_threads)
    must_fail refused redundancy=xor,redundancy_mode=async THREADS=no
    said_by_all refused 'MPI_THREAD_MULTIPLE'
    ;;
finalized) # a helper thread codes when MPI_Finalize begins
    storage=redundancy=xor,redundancy_mode=async
    must_run undisturbed "$storage"
    ends_with_work_under_way /epoch-6. 6 5 n0
    ;;
finalized_copy) # a copy is made when MPI_Finalize begins
    storage=redundancy=xor,flush=$scratch/parallel,flush_interval=2
    must_run undisturbed "$storage"
    ends_with_work_under_way /parallel/solver.points/epoch-6. 6 4 "${default_nodes[@]}"
    ;;
finalized_by_all_ways) # preloaded and linked, in each order with the logger, from C and from Fortran
    storage=redundancy=xor,redundancy_mode=async
    must_run undisturbed "$storage"
    for preloaded in "$library" "$library:$logger" "$logger:$library"; do
        must_end_while_a_thread_codes before "$solver" "LD_PRELOAD=$preloaded"
        must_end_while_a_thread_codes before "$solver" "LD_PRELOAD=$preloaded" "FINALIZE=$(fortran_library)"
    done
    # MPI's own is called; MPICH 4.0 ends the program there, because a thread is in MPI.
    [ "$flavour" = mpich ] || must_end_while_a_thread_codes when "$solver" FINALIZE=libmpi.so.40:PMPI_Finalize
    for order in cd_first logger_first; do
        must_end_while_a_thread_codes before "${solver/cd_solver/cd_$order}" LD_PRELOAD=
    done
    ;;
*) die "there is no scenario $name" ;;
esac
