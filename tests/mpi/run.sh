#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# run.sh FLAVOUR RANKS LOGGER PROGRAM ARGS...: runs an MPI program under the logger.
set -euo pipefail
flavour=$1 ranks=$2 logger=$3
shift 3

# MPI-IO files and sessions of the launcher go, whatever happens.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/cd_mpi.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

launcher=CD_MPIRUN_$flavour
launcher=${!launcher:-mpirun.$flavour}
case $flavour in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    "$launcher" --oversubscribe --mca mpi_yield_when_idle 1 -x TMPDIR -x LD_PRELOAD="$logger" \
        -n "$ranks" "$@"
    ;;
mpich)
    "$launcher" -genv LD_PRELOAD "$logger" -n "$ranks" "$@"
    ;;
*)
    echo "no such MPI: $flavour" >&2
    exit 2
    ;;
esac
