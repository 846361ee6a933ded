#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# mpirun.sh openmpi|mpich RANKS PROGRAM [ARGUMENTS...]: runs an MPI program on this machine, also as
# root, and on fewer cores than ranks.
set -euo pipefail
flavour=$1 ranks=$2
shift 2

case $flavour in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" "$@"
    ;;
mpich)
    exec mpirun.mpich -n "$ranks" "$@"
    ;;
*)
    echo "mpirun.sh: no such MPI: $flavour" >&2
    exit 2
    ;;
esac
