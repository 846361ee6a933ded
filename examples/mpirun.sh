#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# mpirun.sh openmpi|mpich RANKS PROGRAM [ARGUMENTS...]: runs an MPI program on this machine, also as
# root, and on fewer cores than ranks. CD_MPIRUN_openmpi and CD_MPIRUN_mpich may name the launchers.
set -euo pipefail
flavour=$1 ranks=$2
shift 2

launcher=CD_MPIRUN_$flavour
launcher=${!launcher:-$(command -v "mpirun.$flavour" || command -v mpirun || echo mpiexec)}
case $flavour in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec "$launcher" --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" "$@"
    ;;
mpich)
    exec "$launcher" -n "$ranks" "$@"
    ;;
*)
    echo "mpirun.sh: no such MPI: $flavour" >&2
    exit 2
    ;;
esac
