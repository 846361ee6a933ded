#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors

# site_mpi.sh CMAKE CC CXX MPICC MPIRUN FLAVOUR: configures this tree for MPIs as sites have them, made of the
# installed one. Checks which MPI CMake says it took, which loggers it then builds, and what it says without any MPI.
set -uo pipefail
cmake=$1 cc=$2 cxx=$3 mpicc=$4 mpirun=$5 flavour=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The machine's programs without any MPI.
cp -as /usr/bin "$scratch/programs"
rm -f "$scratch"/programs/mpi* "$scratch"/programs/*pkg-config "$scratch"/programs/pkgconf
bare=(env -u MPI_HOME -u MPI_ROOT "PATH=$scratch/programs")

mkdir -p "$scratch/site/bin" "$scratch/kin/bin" "$scratch/kin/include"
ln -s "$mpicc" "$scratch/site/bin/mpicc"
ln -s "$mpirun" "$scratch/site/bin/mpirun"
# Cray's MPICH, as far as mpi.h tells.
printf '#undef OPEN_MPI\n#define MPICH_VERSION "3.4a2"\n#define CRAY_MPICH_VERSION 8.1.28\n#include_next <mpi.h>\n#undef OPEN_MPI\n' \
    >"$scratch/kin/include/mpi.h"
printf '#!/bin/sh\nexec "%s" -I%s/kin/include "$@"\n' "$mpicc" "$scratch" >"$scratch/kin/bin/mpicc"
chmod +x "$scratch/kin/bin/mpicc"

configure() { # NAME COMMAND...
    local name=$1
    shift
    "$@" "$cmake" -S . -B "$scratch/build-$name" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        -DCMAKE_IGNORE_PATH='/usr/bin;/bin' -DCD_BUILD_TESTS=OFF -DCD_BUILD_EXAMPLES=OFF -DCD_BUILD_TOOLS=OFF \
        -DCD_FORTRAN=OFF &>"$scratch/$name.log"
}

expect() { # NAME PATTERN LOGGERS
    local loggers
    loggers=$(sed -nE 's/^build (pmpi_logger_[a-z]+): phony .*/\1/p' "$scratch/build-$1/build.ninja" | sort | xargs)
    if ! tr -s '\n ' ' ' <"$scratch/$1.log" | grep -qE -- "$2" || [ "$loggers" != "$3" ]; then
        echo "$1: expected '$2' and targets '$3', not '$loggers'; CMake said:" >&2
        cat "$scratch/$1.log" >&2
        failed=1
    fi
}

configure path "${bare[@]}" "PATH=$scratch/site/bin:$scratch/programs" &
configure home "${bare[@]}" "MPI_HOME=$scratch/kin" &
configure none "${bare[@]}" &
wait
expect path "MPI: (Open MPI|MPICH) [0-9.]+[a-z0-9]* \($scratch/site/bin/mpicc\): flavour $flavour " "pmpi_logger_$flavour"
expect home "MPI: Cray MPICH 8\.1\.28 \($scratch/kin/bin/mpicc\): flavour mpich " pmpi_logger_mpich
expect none 'CMake Warning .*No MPI found: libpmpi_logger and libcd_mpi are not built\. Put mpicc in PATH, or give -DMPI_ROOT=DIR' ''
exit $failed
